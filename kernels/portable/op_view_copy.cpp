#include "kernels/copy/reshape.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& view_copy_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> size, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  StridedShape shape;
  ET_KERNEL_CHECK(ctx, make_reshaped_shape(in.numel(), size, shape), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_shape_of(out, shape), InvalidArgument, out);

  // Compute
  copy_reshaped(ConstStridedView(in), StridedView(out));
  return out;
}

}  // namespace torch::executor::native
