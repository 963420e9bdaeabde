#include "kernels/views/view_shape.h"

#include "kernels/tensors/resize.h"

namespace rules_executorch::kernels {

bool resize_to_shape_of(Tensor& out, const StridedShape& view) {
  Tensor::SizesType sizes[kTensorDimensionLimit];
  for (int64_t d = 0; d < view.rank; ++d) {
    sizes[d] = static_cast<Tensor::SizesType>(view.sizes[d]);
    ET_CHECK_OR_RETURN_FALSE(sizes[d] == view.sizes[d], "dimension size %lld is too large",
                             static_cast<long long>(view.sizes[d]));
  }
  return resize_to(out, {sizes, static_cast<size_t>(view.rank)});
}

bool broadcasts_to(const StridedShape& view, const StridedShape& shape) {
  const int64_t leading = shape.rank - view.rank;
  ET_CHECK_OR_RETURN_FALSE(leading >= 0, "a tensor with %d dimensions does not broadcast to %d dimensions",
                           int(view.rank), int(shape.rank));
  for (int64_t d = 0; d < view.rank; ++d) {
    const int64_t size = shape.sizes[leading + d];
    ET_CHECK_OR_RETURN_FALSE(view.sizes[d] == 1 || view.sizes[d] == size,
                             "size %d does not broadcast to size %d of dimension %d", int(view.sizes[d]), int(size),
                             int(leading + d));
  }
  return true;
}

bool broadcast_shape(const StridedShape& a, const StridedShape& b, StridedShape& shape) {
  shape = a.rank >= b.rank ? a : b;
  const StridedShape& other = a.rank >= b.rank ? b : a;
  const int64_t leading = shape.rank - other.rank;
  for (int64_t d = 0; d < other.rank; ++d) {
    int64_t& size = shape.sizes[leading + d];
    size = size == 1 ? other.sizes[d] : size;
  }
  return broadcasts_to(other, shape) && broadcasts_to(a.rank >= b.rank ? a : b, shape);
}

}  // namespace rules_executorch::kernels
