#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// A shape in which the offset of an element is its number in the order of the indices.
inline StridedShape numbers_of(const StridedShape& shape) { return shape.contiguous(ScalarType::Byte); }

/// The elements of a view that are where a mask of the same sizes is true: calls `visit` with their offsets, in bytes
/// from the view's first element, in the order of the indices. A mask may be of any dtype, whose elements are read as
/// Bools.
void for_each_chosen(const ConstStridedView& mask, const StridedShape& view,
                     ::executorch::runtime::FunctionRef<void(const int64_t* offsets, int64_t n)> visit);

/// How many elements of a mask are true.
int64_t count_true(const ConstStridedView& mask);

/// Where elements lie by their numbers in the order of the indices.
class InOrder {
 public:
  /// Elements that lie evenly: `n` of them, `stride` bytes apart, from the one at `offset` bytes from the first one.
  struct Run {
    int64_t offset;
    int64_t stride;
    int64_t n;
  };

  explicit InOrder(const StridedShape& shape);

  /// The element with the number `i` and those behind it.
  Run from(int64_t i) const;

 private:
  // With as few dimensions as possible: a contiguous tensor has one.
  int64_t rank_ = 0;
  int64_t sizes_[kTensorDimensionLimit];
  int64_t strides_[kTensorDimensionLimit];  // in bytes
};

}  // namespace rules_executorch::kernels
