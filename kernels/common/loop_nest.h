#pragma once

#include <cstdint>

#include "kernels/common/strided_view.h"

namespace rules_executorch::kernels {

/// Most operands that one loop nest walks through together.
inline constexpr int kMaxOperands = 6;

/// Nested loops over operands of one shape, with as few dimensions as their strides allow: in the order of the first
/// operand's memory, without dimensions of size 1, and with those merged that all operands step through evenly.
/// Contiguous tensors, whatever their common dim order, so become one loop.
class LoopNest {
 public:
  /// `operands`: `count` views of one shape; the first decides the order.
  LoopNest(const StridedView* operands, int count);

  /// Elements of the innermost loop, a row; 0 where there is nothing to visit.
  int64_t row_size() const { return sizes_[dim_ - 1]; }

  /// Bytes between two elements of operand `k` in a row.
  int64_t row_stride(int k) const { return strides_[k][dim_ - 1]; }

  /// Calls `visit(pointers)` for each row, with every operand's first element of that row.
  template <typename Visit>
  void for_each_row(const Visit& visit) const;

 private:
  int count_;
  int64_t dim_ = 0;
  int64_t sizes_[kTensorDimensionLimit + 1];
  int64_t strides_[kMaxOperands][kTensorDimensionLimit + 1];  // in bytes
  char* data_[kMaxOperands];
};

template <typename Visit>
void LoopNest::for_each_row(const Visit& visit) const {
  if (row_size() == 0) {
    return;
  }
  char* pointers[kMaxOperands];
  for (int k = 0; k < count_; ++k) {
    pointers[k] = data_[k];
  }
  int64_t index[kTensorDimensionLimit + 1] = {};
  while (true) {
    visit(static_cast<char* const*>(pointers));
    int64_t d = dim_ - 2;
    for (; d >= 0 && ++index[d] == sizes_[d]; --d) {
      index[d] = 0;
      for (int k = 0; k < count_; ++k) {
        pointers[k] -= (sizes_[d] - 1) * strides_[k][d];
      }
    }
    if (d < 0) {
      return;
    }
    for (int k = 0; k < count_; ++k) {
      pointers[k] += strides_[k][d];
    }
  }
}

}  // namespace rules_executorch::kernels
