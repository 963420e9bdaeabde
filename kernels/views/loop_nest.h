#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Most operands that one loop nest walks through together.
inline constexpr int kMaxOperands = 6;

/// Nested loops over operands of one shape, with as few dimensions as their strides allow: in the order of the first
/// operand's memory, without dimensions of size 1, and with those merged that all operands step through evenly.
/// Contiguous tensors, whatever their common dim order, so become one loop.
///
/// The elements are numbered in that order, so that several threads can take a range of elements each. A nest knows
/// where elements lie, in bytes from the first element, and not their memory.
class LoopNest {
 public:
  /// Called with every operand's offset of the first of `n` elements that lie in one row.
  using Visit = ::executorch::runtime::FunctionRef<void(const int64_t* offsets, int64_t n)>;

  /// `operands`: `count` shapes of the same sizes; the first decides the order.
  LoopNest(const StridedShape* const* operands, int count);

  template <typename... Shapes>
  static LoopNest over(const Shapes&... operands) {
    static_assert(sizeof...(operands) <= kMaxOperands, "a loop nest walks through kMaxOperands operands at most");
    const StridedShape* const list[] = {&operands...};
    return LoopNest(list, sizeof...(operands));
  }

  /// All elements; 0 where there is nothing to visit.
  int64_t numel() const { return numel_; }

  /// The loops, of which the last is the innermost; there is at least one.
  int64_t rank() const { return rank_; }
  int64_t size(int64_t d) const { return sizes_[d]; }
  int64_t stride(int k, int64_t d) const { return strides_[k][d]; }

  /// Elements of the innermost loop, a row.
  int64_t row_size() const { return sizes_[rank_ - 1]; }

  /// Bytes between two elements of operand `k` in a row.
  int64_t row_stride(int k) const { return strides_[k][rank_ - 1]; }

  /// Visits the elements from number `begin` to `end`, row by row; of the first and the last row perhaps a part.
  void for_each_row(int64_t begin, int64_t end, Visit visit) const;

  /// Visits all elements, in ranges of `grain` or more on several threads (see `parallel_for`).
  void parallel_for_each_row(int64_t grain, Visit visit) const;

 private:
  int count_;
  int64_t rank_ = 0;
  int64_t numel_;
  int64_t sizes_[kTensorDimensionLimit + 1];
  int64_t strides_[kMaxOperands][kTensorDimensionLimit + 1];  // in bytes
};

}  // namespace rules_executorch::kernels
