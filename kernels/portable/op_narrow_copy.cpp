#include "kernels/copy/view_copy.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& narrow_copy_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, int64_t start, int64_t length,
                        Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, in.dim() > 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);
  const int64_t size = in.sizes()[dim];
  ET_KERNEL_CHECK(ctx, start >= -size && start <= size, InvalidArgument, out);
  const int64_t first = start < 0 ? start + size : start;
  ET_KERNEL_CHECK(ctx, length >= 0 && length <= size - first, InvalidArgument, out);

  return view_copy(ctx, ConstStridedView(in).slice(dim, first, length), out);
}

}  // namespace torch::executor::native
