#include "kernels/copy/indexed_view.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& index_Tensor_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<std::optional<Tensor>> indices,
                         Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  IndexedView view;
  ET_KERNEL_CHECK(ctx, view.init(ConstStridedView(in), indices), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_shape_of(out, view.shape()), InvalidArgument, out);

  // Compute
  gather(ConstStridedView(in), view, StridedView(out));
  return out;
}

}  // namespace torch::executor::native
