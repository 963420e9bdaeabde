#include <tuple>

#include "kernels/reduce/line_results.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The cost of an element, in additions.
constexpr int64_t kWorkOfExtreme = 4;

/// Writes the last of the extreme elements up to each element. NaN is the largest and the smallest element.
template <typename T, bool kSmallest>
void find_cumulative_extremes(const LineResults& line) {
  T best = *reinterpret_cast<const T*>(line.in);
  int64_t index = 0;
  for (int64_t i = 0; i < line.size; ++i) {
    const T x = *reinterpret_cast<const T*>(line.in + i * line.in_stride);
    if ((kSmallest ? x <= best : x >= best) || x != x) {
      best = x;
      index = i;
    }
    *reinterpret_cast<T*>(line.values + i * line.values_stride) = best;
    *reinterpret_cast<int64_t*>(line.indices + i * line.indices_stride) = index;
  }
}

template <ET_OPERATOR_NAME_TYPE op_name, bool kSmallest>
void cumulative_extreme(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, Tensor& values, Tensor& indices) {
  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, values), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, indices.scalar_type() == ScalarType::Long, InvalidArgument, );
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, );

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(values, in) && resize_like(indices, in), InvalidArgument, );
  if (in.numel() == 0) {
    return;
  }

  // Compute
  ET_SWITCH_REALHBBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    for_each_line(ctx, in, dim, values, indices, /*scratch_size=*/0, kWorkOfExtreme,
                  &find_cumulative_extremes<CTYPE, kSmallest>);
  });
}

}  // namespace

std::tuple<Tensor&, Tensor&> cummax_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, Tensor& values,
                                        Tensor& indices) {
  ET_DEFINE_OPERATOR_NAME(op_name, "cummax.out");
  cumulative_extreme<op_name, /*kSmallest=*/false>(ctx, in, dim, values, indices);
  return {values, indices};
}

std::tuple<Tensor&, Tensor&> cummin_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, Tensor& values,
                                        Tensor& indices) {
  ET_DEFINE_OPERATOR_NAME(op_name, "cummin.out");
  cumulative_extreme<op_name, /*kSmallest=*/true>(ctx, in, dim, values, indices);
  return {values, indices};
}

}  // namespace torch::executor::native
