#include "kernels/copy/view_copy.h"

#include "kernels/copy/copy.h"
#include "kernels/views/view_shape.h"

namespace rules_executorch::kernels {

Tensor& view_copy(KernelRuntimeContext& ctx, const ConstStridedView& view, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(view.dtype), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, view.dtype == out.scalar_type(), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_shape_of(out, view), InvalidArgument, out);

  // Compute
  copy(view, StridedView(out));
  return out;
}

}  // namespace rules_executorch::kernels
