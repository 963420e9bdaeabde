#include "kernels/copy/copy.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& copy_(KernelRuntimeContext& ctx, Tensor& self, const Tensor& source, bool non_blocking) {
  // Check: `non_blocking` has no effect, because the copy is synchronous.
  (void)non_blocking;
  const StridedView self_view(self);
  const ConstStridedView source_view(source);
  ET_KERNEL_CHECK(ctx, is_movable(source.scalar_type()) && is_movable(self.scalar_type()), InvalidArgument, self);
  ET_KERNEL_CHECK(ctx, broadcasts_to(source_view, self_view), InvalidArgument, self);

  // Compute
  copy(source_view.broadcast_to(self_view), self_view);
  return self;
}

Tensor& copy_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& source, bool non_blocking, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute: only the shape and the dtype of `in` are used.
  return copy_(ctx, out, source, non_blocking);
}

}  // namespace torch::executor::native
