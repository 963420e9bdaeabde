#include "kernels/portable/util/view_copy.h"

#include "kernels/portable/util/copy.h"
#include "kernels/portable/util/view_shape.h"

namespace torch::executor::native {

Tensor& view_copy(KernelRuntimeContext& ctx, const StridedView& view, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_supported(view.dtype), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, view.dtype == out.scalar_type(), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_shape_of(out, view), InvalidArgument, out);

  // Compute
  copy(view, StridedView(out));
  return out;
}

}  // namespace torch::executor::native
