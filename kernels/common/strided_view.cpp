#include "kernels/common/strided_view.h"

#include <algorithm>

namespace rules_executorch::kernels {

StridedView::StridedView(const Tensor& tensor)
    : data(static_cast<char*>(tensor.mutable_data_ptr())), dtype(tensor.scalar_type()), dim(tensor.dim()) {
  std::copy_n(tensor.sizes().data(), dim, sizes);
  // A tensor made by hand may carry neither strides nor dim order: it is contiguous.
  const bool has_strides = tensor.strides().data() != nullptr;
  int64_t contiguous_stride = 1;
  for (int64_t d = dim - 1; d >= 0; --d) {
    strides[d] = has_strides ? tensor.strides()[d] : contiguous_stride;
    contiguous_stride *= sizes[d];
  }
}

int64_t StridedView::numel() const {
  int64_t count = 1;
  for (int64_t d = 0; d < dim; ++d) {
    count *= sizes[d];
  }
  return count;
}

StridedView StridedView::permute(const int64_t* order) const {
  StridedView view = *this;
  for (int64_t d = 0; d < dim; ++d) {
    view.sizes[d] = sizes[order[d]];
    view.strides[d] = strides[order[d]];
  }
  return view;
}

StridedView StridedView::slice(int64_t dimension, int64_t start, int64_t length, int64_t step) const {
  StridedView view = *this;
  view.data += start * strides[dimension] * element_size();
  view.sizes[dimension] = length;
  view.strides[dimension] = strides[dimension] * step;
  return view;
}

StridedView StridedView::select(int64_t dimension, int64_t index) const {
  StridedView view = *this;
  view.data += index * strides[dimension] * element_size();
  view.dim = dim - 1;
  std::copy(sizes + dimension + 1, sizes + dim, view.sizes + dimension);
  std::copy(strides + dimension + 1, strides + dim, view.strides + dimension);
  return view;
}

StridedView StridedView::unsqueeze(int64_t dimension) const {
  StridedView view = *this;
  view.dim = dim + 1;
  view.sizes[dimension] = 1;
  view.strides[dimension] = 0;
  std::copy(sizes + dimension, sizes + dim, view.sizes + dimension + 1);
  std::copy(strides + dimension, strides + dim, view.strides + dimension + 1);
  return view;
}

StridedView StridedView::broadcast_to(const StridedView& shape) const {
  StridedView view = shape;
  view.data = data;
  view.dtype = dtype;
  const int64_t leading = shape.dim - dim;
  for (int64_t d = 0; d < shape.dim; ++d) {
    const bool repeats = d < leading || sizes[d - leading] == 1;
    view.strides[d] = repeats ? 0 : strides[d - leading];
  }
  return view;
}

}  // namespace rules_executorch::kernels
