#include "kernels/copy/in_order.h"

#include <algorithm>

#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"
#include "kernels/views/loop_nest.h"

namespace rules_executorch::kernels {
namespace {

/// Calls `visit(offsets, start, values, n)` for blocks of a mask's elements. The mask is operand 1 of `nest`.
template <typename Visit>
void for_each_block(const ConstStridedView& mask, const LoopNest& nest, const Visit& visit) {
  const int64_t stride = nest.row_stride(1);
  nest.for_each_row(0, nest.numel(), [&](const int64_t* offsets, int64_t row_size) {
    bool values[kBlockSize];
    for (int64_t start = 0; start < row_size; start += kBlockSize) {
      const int64_t n = std::min(kBlockSize, row_size - start);
      load_block(mask.dtype, mask.data + offsets[1] + start * stride, stride, ScalarType::Bool, values, n);
      visit(offsets, start, values, n);
    }
  });
}

}  // namespace

void for_each_chosen(const ConstStridedView& mask, const StridedShape& view,
                     ::executorch::runtime::FunctionRef<void(const int64_t* offsets, int64_t n)> visit) {
  const LoopNest nest = LoopNest::over(numbers_of(mask), mask, view);
  const int64_t stride = nest.row_stride(2);
  for_each_block(mask, nest, [&](const int64_t* offsets, int64_t start, const bool* values, int64_t n) {
    // No branch, because branches on irregular masks are mispredicted.
    int64_t chosen[kBlockSize];
    int64_t count = 0;
    const int64_t first = offsets[2] + start * stride;
    for (int64_t i = 0; i < n; ++i) {
      chosen[count] = first + i * stride;
      count += values[i] ? 1 : 0;
    }
    visit(chosen, count);
  });
}

int64_t count_true(const ConstStridedView& mask) {
  int64_t count = 0;
  for_each_block(mask, LoopNest::over(mask, mask), [&](const int64_t*, int64_t, const bool* values, int64_t n) {
    count += std::count(values, values + n, true);
  });
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

InOrder::Run InOrder::from(int64_t i) const {
  if (rank_ == 0) {
    return {0, 0, 1};
  }
  const int64_t last = rank_ - 1;
  int64_t offset = 0;
  int64_t left = i;
  int64_t n = sizes_[last] - i;
  for (int64_t d = last; d > 0; --d) {
    const int64_t position = left % sizes_[d];
    left /= sizes_[d];
    offset += position * strides_[d];
    n = d == last ? sizes_[d] - position : n;
  }
  return {offset + left * strides_[0], strides_[last], n};
}

}  // namespace rules_executorch::kernels
