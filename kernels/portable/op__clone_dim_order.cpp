#include "kernels/copy/copy.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/dim_order.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& _clone_dim_order_out(KernelRuntimeContext& ctx, const Tensor& in, bool non_blocking,
                             std::optional<ArrayRef<int64_t>> dim_order, Tensor& out) {
  // Check: `non_blocking` has no effect, because the copy is synchronous.
  (void)non_blocking;
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, has_dim_order(out, dim_order), InvalidArgument, out);

  // Compute
  copy(in, out);
  return out;
}

}  // namespace torch::executor::native
