#include "kernels/views/strided_view.h"

#include <algorithm>
#include <cstdlib>

namespace rules_executorch::kernels {

int64_t StridedShape::numel() const {
  int64_t count = 1;
  for (int64_t d = 0; d < rank; ++d) {
    count *= sizes[d];
  }
  return count;
}

StridedShape StridedShape::contiguous(ScalarType type) const {
  StridedShape shape = *this;
  shape.dtype = type;
  int64_t stride = 1;
  for (int64_t d = rank - 1; d >= 0; --d) {
    shape.strides[d] = stride;
    stride *= sizes[d];
  }
  return shape;
}

void StridedShape::memory_order(int64_t* order) const {
  for (int64_t d = 0; d < rank; ++d) {
    int64_t position = d;
    for (; position > 0 && std::abs(strides[order[position - 1]]) < std::abs(strides[d]); --position) {
      order[position] = order[position - 1];
    }
    order[position] = d;
  }
}

template <typename Byte>
BasicStridedView<Byte>::BasicStridedView(std::conditional_t<kIsConst, const Tensor&, Tensor&> tensor) {
  if constexpr (kIsConst) {
    data = static_cast<Byte*>(tensor.const_data_ptr());
  } else {
    data = static_cast<Byte*>(tensor.mutable_data_ptr());
  }
  // ExecuTorch has two dtypes for quantized values of 16 bits.
  dtype = tensor.scalar_type() == ScalarType::Bits16 ? ScalarType::UInt16 : tensor.scalar_type();
  rank = tensor.dim();
  std::copy_n(tensor.sizes().data(), rank, sizes);
  // Tensors created manually may have no strides and no dim order. They are contiguous.
  const bool has_strides = tensor.strides().data() != nullptr;
  int64_t contiguous_stride = 1;
  for (int64_t d = rank - 1; d >= 0; --d) {
    strides[d] = has_strides ? tensor.strides()[d] : contiguous_stride;
    contiguous_stride *= sizes[d];
  }
}

template <typename Byte>
BasicStridedView<Byte> BasicStridedView<Byte>::permute(const int64_t* order) const {
  BasicStridedView view = *this;
  for (int64_t d = 0; d < rank; ++d) {
    view.sizes[d] = sizes[order[d]];
    view.strides[d] = strides[order[d]];
  }
  return view;
}

template <typename Byte>
BasicStridedView<Byte> BasicStridedView<Byte>::slice(int64_t dimension, int64_t start, int64_t length,
                                                     int64_t step) const {
  BasicStridedView view = *this;
  view.data += start * strides[dimension] * element_size();
  view.sizes[dimension] = length;
  view.strides[dimension] = strides[dimension] * step;
  return view;
}

template <typename Byte>
BasicStridedView<Byte> BasicStridedView<Byte>::select(int64_t dimension, int64_t index) const {
  BasicStridedView view = *this;
  view.data += index * strides[dimension] * element_size();
  view.rank = rank - 1;
  std::copy(sizes + dimension + 1, sizes + rank, view.sizes + dimension);
  std::copy(strides + dimension + 1, strides + rank, view.strides + dimension);
  return view;
}

template <typename Byte>
BasicStridedView<Byte> BasicStridedView<Byte>::unsqueeze(int64_t dimension) const {
  BasicStridedView view = *this;
  view.rank = rank + 1;
  view.sizes[dimension] = 1;
  view.strides[dimension] = 0;
  std::copy(sizes + dimension, sizes + rank, view.sizes + dimension + 1);
  std::copy(strides + dimension, strides + rank, view.strides + dimension + 1);
  return view;
}

template <typename Byte>
BasicStridedView<Byte> BasicStridedView<Byte>::broadcast_to(const StridedShape& shape) const {
  BasicStridedView view = *this;
  view.rank = shape.rank;
  const int64_t leading = shape.rank - rank;
  for (int64_t d = 0; d < shape.rank; ++d) {
    const bool repeats = d < leading || sizes[d - leading] == 1;
    view.sizes[d] = shape.sizes[d];
    view.strides[d] = repeats ? 0 : strides[d - leading];
  }
  return view;
}

template struct BasicStridedView<char>;
template struct BasicStridedView<const char>;

}  // namespace rules_executorch::kernels
