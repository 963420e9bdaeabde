#include "kernels/copy/view_copy.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Sets `shape` to `size`. -1 keeps the size of the view's dimension. Returns false if the view cannot have this shape.
bool make_expanded_shape(const StridedShape& view, const ArrayRef<int64_t>& size, StridedShape& shape) {
  shape.rank = static_cast<int64_t>(size.size());
  const int64_t leading = shape.rank - view.rank;
  ET_CHECK_OR_RETURN_FALSE(leading >= 0 && size.size() <= kTensorDimensionLimit,
                           "cannot expand a tensor with %d dimensions to %d dimensions", int(view.rank),
                           int(shape.rank));
  for (int64_t d = 0; d < shape.rank; ++d) {
    shape.sizes[d] = size[d] == -1 && d >= leading ? view.sizes[d - leading] : size[d];
    ET_CHECK_OR_RETURN_FALSE(shape.sizes[d] >= 0, "dimension %d cannot have size %d", int(d), int(size[d]));
  }
  return true;
}

}  // namespace

Tensor& expand_copy_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> size, bool implicit,
                        Tensor& out) {
  // Check: `implicit` is information for tracers only.
  (void)implicit;
  const ConstStridedView view(in);
  StridedShape shape;
  ET_KERNEL_CHECK(ctx, make_expanded_shape(view, size, shape), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, broadcasts_to(view, shape), InvalidArgument, out);

  return view_copy(ctx, view.broadcast_to(shape), out);
}

}  // namespace torch::executor::native
