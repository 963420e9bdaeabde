#include "kernels/common/in_order.h"

#include <algorithm>

#include "kernels/common/block.h"
#include "kernels/common/convert.h"
#include "kernels/common/loop_nest.h"

namespace rules_executorch::kernels {

void for_each_true(const ConstStridedView& mask, ::executorch::runtime::FunctionRef<void(int64_t i)> visit) {
  // The offsets in a contiguous tensor of bytes are the numbers of its elements, and its order is theirs.
  StridedShape numbers = mask;
  numbers.dtype = ScalarType::Byte;
  int64_t stride = 1;
  for (int64_t d = mask.rank - 1; d >= 0; --d) {
    numbers.strides[d] = stride;
    stride *= mask.sizes[d];
  }
  const LoopNest nest = LoopNest::over(numbers, mask);
  const int64_t mask_stride = nest.row_stride(1);
  nest.for_each_row(0, nest.numel(), [&](const int64_t* offsets, int64_t row_size) {
    bool values[kBlockSize];
    int64_t found[kBlockSize];
    for (int64_t start = 0; start < row_size; start += kBlockSize) {
      const int64_t n = std::min(kBlockSize, row_size - start);
      load_block(mask.dtype, mask.data + offsets[1] + start * mask_stride, mask_stride, ScalarType::Bool, values, n);
      // No branch on the values, which would be mispredicted where they are irregular.
      int64_t count = 0;
      for (int64_t i = 0; i < n; ++i) {
        found[count] = i;
        count += values[i] ? 1 : 0;
      }
      for (int64_t k = 0; k < count; ++k) {
        visit(offsets[0] + (start + found[k]) * nest.row_stride(0));
      }
    }
  });
}

int64_t count_true(const ConstStridedView& mask) {
  int64_t count = 0;
  for_each_true(mask, [&](int64_t) { ++count; });
  return count;
}

InOrder::InOrder(const StridedShape& shape) {
  for (int64_t d = 0; d < shape.rank; ++d) {
    if (shape.sizes[d] == 1) {
      continue;
    }
    const int64_t stride = shape.strides[d] * shape.element_size();
    if (rank_ > 0 && strides_[rank_ - 1] == stride * shape.sizes[d]) {
      --rank_;
      sizes_[rank_] *= shape.sizes[d];
    } else {
      sizes_[rank_] = shape.sizes[d];
    }
    strides_[rank_++] = stride;
  }
}

int64_t InOrder::offset(int64_t i) const {
  int64_t offset = 0;
  for (int64_t d = rank_ - 1; d > 0; --d) {
    offset += i % sizes_[d] * strides_[d];
    i /= sizes_[d];
  }
  return rank_ == 0 ? 0 : offset + i * strides_[0];
}

}  // namespace rules_executorch::kernels
