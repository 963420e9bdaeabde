#pragma once

#include <cstdint>

#include "kernels/copy/copy.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Whether the last three dimensions of a tensor (channels, height, width) can be viewed as blocks of `side` by `side`:
/// the tensor has three dimensions, its views may have two more, and side * side does not overflow.
inline bool can_be_blocks(const Tensor& tensor, int64_t side) {
  ET_CHECK_OR_RETURN_FALSE(tensor.dim() >= 3 && tensor.dim() + 2 <= ssize_t(kTensorDimensionLimit),
                           "the number of dimensions is not supported: %zd", ssize_t(tensor.dim()));
  ET_CHECK_OR_RETURN_FALSE(side > 0 && side <= 1 << 15, "the factor %lld is out of range",
                           static_cast<long long>(side));
  return true;
}

/// Splits dimension `d` into two dimensions. The inner one has `size` elements.
template <typename View>
View split_dim(const View& view, int64_t d, int64_t size) {
  View result = view.unsqueeze(d + 1);
  result.sizes[d] = view.sizes[d] / size;
  result.sizes[d + 1] = size;
  result.strides[d] = view.strides[d] * size;
  result.strides[d + 1] = view.strides[d];
  return result;
}

/// A view [..., C * side * side, H, W] as [..., C, side, side, H, W].
template <typename View>
View blocks_of_channels(const View& view, int64_t side) {
  const int64_t channel = view.rank - 3;
  return split_dim(split_dim(view, channel, side), channel, side);
}

/// A view [..., C, H * side, W * side] as [..., C, side, side, H, W].
template <typename View>
View blocks_of_pixels(const View& view, int64_t side) {
  const int64_t row = view.rank - 2;
  const View blocks = split_dim(split_dim(view, row + 1, side), row, side);
  // Permutes H, y, W, x to y, x, H, W.
  int64_t order[kTensorDimensionLimit];
  for (int64_t d = 0; d < row; ++d) {
    order[d] = d;
  }
  order[row] = row + 1;
  order[row + 1] = row + 3;
  order[row + 2] = row;
  order[row + 3] = row + 2;
  return blocks.permute(order);
}

/// Copies views [..., side, side, H, W]. Each copy has one position of all blocks, because the rows of a block are
/// short.
inline void copy_blocks(const ConstStridedView& source, const StridedView& target, int64_t side) {
  const int64_t row = source.rank - 4;
  for (int64_t y = 0; y < side; ++y) {
    for (int64_t x = 0; x < side; ++x) {
      copy(source.select(row, y).select(row, x), target.select(row, y).select(row, x));
    }
  }
}

}  // namespace rules_executorch::kernels
