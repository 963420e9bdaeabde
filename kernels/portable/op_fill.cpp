#include "kernels/copy/copy.h"
#include "kernels/copy/fill.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& fill_scalar_out(KernelRuntimeContext& ctx, const Tensor& in, const Scalar& value, Tensor& out) {
  // Check: only the shape and the dtype of `in` are used.
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_fill(out.scalar_type(), in.numel(), value), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  fill(StridedView(out), value);
  return out;
}

Tensor& fill_tensor_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& value, Tensor& out) {
  // Check: only the shape and the dtype of `in` are used.
  ET_KERNEL_CHECK(ctx, is_movable(value.scalar_type()) && is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, value.dim() == 0, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  copy(ConstStridedView(value).broadcast_to(StridedView(out)), StridedView(out));
  return out;
}

}  // namespace torch::executor::native
