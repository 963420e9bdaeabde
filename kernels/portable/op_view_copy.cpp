#include "kernels/copy/copy.h"
#include "kernels/copy/reshape.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Each element as `ratio` elements of a smaller dtype, in a new last dimension.
template <typename View>
View in_parts(View view, ScalarType type, int64_t ratio) {
  View parts = view.unsqueeze(view.rank);
  parts.dtype = type;
  for (int64_t d = 0; d < view.rank; ++d) {
    parts.strides[d] *= ratio;
  }
  parts.sizes[view.rank] = ratio;
  parts.strides[view.rank] = 1;
  return parts;
}

/// The last dimension as runs of `length` elements.
template <typename View>
View in_runs(View view, int64_t length) {
  View runs = view.unsqueeze(view.rank);
  const int64_t last = view.rank - 1;
  runs.sizes[last] /= length;
  runs.strides[last] *= length;
  runs.sizes[view.rank] = length;
  runs.strides[view.rank] = view.strides[last];
  return runs;
}

}  // namespace

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

Tensor& view_copy_dtype_out(KernelRuntimeContext& ctx, const Tensor& in, ScalarType dtype, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()) && is_movable(dtype), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == dtype, InvalidArgument, out);
  ConstStridedView view(in);
  StridedShape shape = view;
  const int64_t size = shape.element_size();
  shape.dtype = dtype;
  const int64_t new_size = shape.element_size();
  const int64_t last = in.dim() - 1;
  if (size != new_size) {
    // The bytes of the last dimension are divided anew.
    ET_KERNEL_CHECK(ctx, last >= 0 && in.dim() < static_cast<ssize_t>(kTensorDimensionLimit), InvalidArgument, out);
    ET_KERNEL_CHECK(ctx, in.size(last) * size % new_size == 0, InvalidArgument, out);
    shape.sizes[last] = in.size(last) * size / new_size;
  }

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_shape_of(out, shape), InvalidArgument, out);

  // Compute
  if (size == new_size) {
    view.dtype = dtype;
    copy(view, StridedView(out));
  } else if (size > new_size) {
    const int64_t ratio = size / new_size;
    copy(in_parts(view, dtype, ratio), in_runs(StridedView(out), ratio));
  } else {
    const int64_t ratio = new_size / size;
    copy(in_runs(view, ratio), in_parts(StridedView(out), in.scalar_type(), ratio));
  }
  return out;
}

}  // namespace torch::executor::native
