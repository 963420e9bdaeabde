#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>

#include "kernels/math/extremes.h"
#include "kernels/math/vector_math.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/quantize/quantization.h"
#include "kernels/reduce/min_max.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

constexpr float kMin = -128;
constexpr float kMax = 127;

/// The parameters for values of dtype `T` from `min` to `max`. As in PyTorch, each operation is in this dtype.
template <typename T>
void choose_scale(T min, T max, double& scale_out, int64_t& zero_point_out) {
  const T least = smaller<T>(min, T(0));
  const T largest = larger<T>(max, T(0));
  const T eps = static_cast<T>(std::numeric_limits<float>::epsilon());
  const T scale = larger<T>((largest - least) / T(kMax - kMin), eps);
  const T descaled_least = least / scale;
  const T descaled_largest = largest / scale;
  const T error_of_least = T(kMin) + descaled_least;
  const T error_of_largest = T(kMax) + descaled_largest;
  const T zero_point = error_of_least + error_of_largest > T(0) ? T(kMin) - descaled_least : T(kMax) - descaled_largest;
  scale_out = static_cast<double>(scale);
  zero_point_out =
      static_cast<int64_t>(math::rint(QuantizedRange<double>(kMin, kMax).clamp(static_cast<double>(zero_point))));
}

}  // namespace

std::tuple<Tensor&, Tensor&> choose_qparams_per_token_asymmetric_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                                     ScalarType dtype, Tensor& scale_out,
                                                                     Tensor& zero_point_out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "quantized_decomposed::choose_qparams_per_token_asymmetric.out");
  std::tuple<Tensor&, Tensor&> results(scale_out, zero_point_out);

  // Check: `dtype` has no effect. The parameters are always those for Char.
  (void)dtype;
  const int64_t last = in.dim() - 1;
  ET_KERNEL_CHECK(ctx, last < 0 || in.sizes()[last] > 0, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, scale_out.scalar_type() == ScalarType::Double, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, zero_point_out.scalar_type() == ScalarType::Long, InvalidArgument, results);

  // Resize
  Tensor::SizesType sizes[kTensorDimensionLimit];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  if (last >= 0) {
    sizes[last] = 1;
  }
  const ArrayRef<Tensor::SizesType> size(sizes, static_cast<size_t>(in.dim()));
  ET_KERNEL_CHECK(ctx, resize_to(scale_out, size) && resize_to(zero_point_out, size), InvalidArgument, results);

  // Compute
  const auto tokens_of = [last](const auto& view) { return last < 0 ? view : view.select(last, 0); };
  const ConstStridedView values(in);
  const StridedView scales(scale_out);
  const StridedView zero_points(zero_point_out);
  const int64_t count = last < 0 ? 1 : values.sizes[last];
  const int64_t stride = last < 0 ? 0 : values.strides[last] * values.element_size();
  const LoopNest nest = LoopNest::over(tokens_of(scales), tokens_of(zero_points), tokens_of(values));
  ET_SWITCH_FLOATHBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    using Compute = std::conditional_t<std::is_same_v<CTYPE, double>, double, float>;
    nest.parallel_for_each_row(std::max<int64_t>(1, kGrain / count), [&](const int64_t* offsets, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        const char* const data = values.data + offsets[2] + i * nest.row_stride(2);
        const MinMax<Compute> extent = min_max<Compute>(values.dtype, data, stride, count);
        choose_scale<CTYPE>(static_cast<CTYPE>(extent.min), static_cast<CTYPE>(extent.max),
                            *reinterpret_cast<double*>(scales.data + offsets[0] + i * nest.row_stride(0)),
                            *reinterpret_cast<int64_t*>(zero_points.data + offsets[1] + i * nest.row_stride(1)));
      }
    });
  });
  return results;
}

}  // namespace torch::executor::native
