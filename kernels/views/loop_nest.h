#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// The largest number of operands of a loop nest.
inline constexpr int kMaxOperands = 6;

/// Nested loops over operands of one shape, with as few dimensions as their strides allow. The order of the loops is
/// that of the first operand's memory. Dimensions of size 1 are dropped. Two dimensions are merged if all operands have
/// a constant stride over both. Contiguous tensors with a common dim order become one loop.
///
/// The elements are numbered in this order, so that each thread takes a range of elements. A nest has the offsets of
/// the elements in bytes from the first element, and has no pointers to memory.
class LoopNest {
 public:
  /// Called for `n` elements of a row, with the offset of the first of them in each operand.
  using Visit = ::executorch::runtime::FunctionRef<void(const int64_t* offsets, int64_t n)>;

  /// `operands`: `count` shapes of the same sizes. The first one determines the order of the loops.
  LoopNest(const StridedShape* const* operands, int count);

  template <typename... Shapes>
  static LoopNest over(const Shapes&... operands) {
    static_assert(sizeof...(operands) <= kMaxOperands, "a loop nest has at most kMaxOperands operands");
    const StridedShape* const list[] = {&operands...};
    return LoopNest(list, sizeof...(operands));
  }

  /// The number of elements.
  int64_t numel() const { return numel_; }

  /// The number of loops, at least one. The last loop is the innermost.
  int64_t rank() const { return rank_; }
  int64_t size(int64_t d) const { return sizes_[d]; }
  int64_t stride(int k, int64_t d) const { return strides_[k][d]; }

  /// The number of elements of a row, which is the innermost loop.
  int64_t row_size() const { return sizes_[rank_ - 1]; }

  /// The number of bytes between two elements of operand `k` in a row.
  int64_t row_stride(int k) const { return strides_[k][rank_ - 1]; }

  /// The nest of the rows: the loops without the innermost one. An element of the result is a row of this nest. There
  /// must be at least two loops.
  LoopNest of_rows() const;

  /// Visits the elements from number `begin` to `end` (exclusive), row by row. The first and the last call may have a
  /// part of a row.
  void for_each_row(int64_t begin, int64_t end, Visit visit) const;

  /// Visits all elements, in ranges of at least `grain` elements on several threads (see `parallel_for`).
  void parallel_for_each_row(int64_t grain, Visit visit) const;

 private:
  int count_;
  int64_t rank_ = 0;
  int64_t numel_;
  int64_t sizes_[kTensorDimensionLimit + 1];
  int64_t strides_[kMaxOperands][kTensorDimensionLimit + 1];  // in bytes
};

}  // namespace rules_executorch::kernels
