#include "kernels/copy/in_order.h"
#include "kernels/copy/offset_copy.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& masked_select_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& mask, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, mask.scalar_type() == ScalarType::Bool, InvalidArgument, out);
  ConstStridedView source(in);
  ConstStridedView chosen(mask);
  StridedShape shape;
  ET_KERNEL_CHECK(ctx, broadcast_shape(source, chosen, shape), InvalidArgument, out);
  source = source.broadcast_to(shape);
  chosen = chosen.broadcast_to(shape);

  // Resize
  const int64_t size[] = {count_true(chosen)};
  ET_KERNEL_CHECK(ctx, resize_to_size(out, size), InvalidArgument, out);

  // Compute
  const StridedView target(out);
  const int64_t element_size = target.element_size();
  const int64_t stride = target.strides[0] * element_size;
  char* to = target.data;
  for_each_chosen(chosen, source, [&](const int64_t* offsets, int64_t n) {
    gather_elements(source.data, offsets, to, stride, element_size, n);
    to += n * stride;
  });
  return out;
}

}  // namespace torch::executor::native
