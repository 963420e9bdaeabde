#include <algorithm>
#include <tuple>

#include "kernels/math/extremes.h"
#include "kernels/math/vector_math.h"
#include "kernels/quantize/quantization.h"
#include "kernels/reduce/min_max.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether the range is valid in PyTorch: not empty, and with 0.
bool range_is_valid(int64_t quant_min, int64_t quant_max) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  ET_CHECK_OR_RETURN_FALSE(quant_min <= 0 && quant_max >= 0 && quant_min < quant_max,
                           "expected a non-empty range with 0");
  ET_CHECK_OR_RETURN_FALSE(quant_min >= -kLimit && quant_max < kLimit, "expected a range of 32-bit integers");
  return true;
}

}  // namespace

std::tuple<Tensor&, Tensor&> choose_qparams_tensor_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t quant_min,
                                                       int64_t quant_max, double eps, ScalarType dtype,
                                                       Tensor& scale_out, Tensor& zero_point_out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "quantized_decomposed::choose_qparams.Tensor_out");
  std::tuple<Tensor&, Tensor&> results(scale_out, zero_point_out);

  // Check
  ET_KERNEL_CHECK(ctx, is_quantized_type(dtype), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, range_is_valid(quant_min, quant_max), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, in.numel() > 0, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, scale_out.scalar_type() == ScalarType::Double, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, zero_point_out.scalar_type() == ScalarType::Long, InvalidArgument, results);

  // Resize
  const Tensor::SizesType sizes[] = {1};
  ET_KERNEL_CHECK(ctx, resize_to(scale_out, sizes) && resize_to(zero_point_out, sizes), InvalidArgument, results);

  // Compute: the scale in the dtype of the input, the rest in Float.
  ET_SWITCH_THREE_TYPES(Float, Half, BFloat16, in.scalar_type(), ctx, op_name, CTYPE, [&] {
    const char* const data = static_cast<const char*>(in.const_data_ptr());
    const MinMax<float> extent = min_max<float>(in.scalar_type(), data, in.element_size(), in.numel());
    const float least = smaller(extent.min, 0.0f);
    const CTYPE size = static_cast<CTYPE>(larger(extent.max, 0.0f) - least);
    const CTYPE natural_scale =
        static_cast<CTYPE>(static_cast<float>(size) / static_cast<float>(quant_max - quant_min));
    const float scale = larger(static_cast<float>(natural_scale), static_cast<float>(eps));
    const QuantizedRange<double> range(quant_min, quant_max);
    const double zero_point = range.clamp(static_cast<double>(quant_min) - math::rint(least / scale));
    *scale_out.mutable_data_ptr<double>() = scale;
    *zero_point_out.mutable_data_ptr<int64_t>() = static_cast<int64_t>(zero_point);
  });
  return results;
}

}  // namespace torch::executor::native
