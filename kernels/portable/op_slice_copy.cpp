#include <algorithm>

#include "kernels/copy/view_copy.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& slice_copy_Tensor_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, std::optional<int64_t> start,
                              std::optional<int64_t> end, int64_t step, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, in.dim() > 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, step > 0, InvalidArgument, out);

  const int64_t size = in.sizes()[dim];
  const int64_t first = clamp_bound(start.value_or(0), size);
  const int64_t span = clamp_bound(end.value_or(size), size) - first;
  const int64_t length = span > 0 ? (span - 1) / step + 1 : 0;
  // A step larger than the dimension takes a single element. The step is limited so that the stride does not overflow.
  return view_copy(ctx, ConstStridedView(in).slice(dim, first, length, std::min(step, size + 1)), out);
}

}  // namespace torch::executor::native
