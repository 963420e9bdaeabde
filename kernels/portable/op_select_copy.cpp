#include "kernels/copy/view_copy.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& select_copy_int_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, int64_t index, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, in.dim() > 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);
  const int64_t size = in.sizes()[dim];
  ET_KERNEL_CHECK(ctx, index >= -size && index < size, InvalidArgument, out);

  return view_copy(ctx, ConstStridedView(in).select(dim, index < 0 ? index + size : index), out);
}

}  // namespace torch::executor::native
