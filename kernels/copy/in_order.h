#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// A shape of the same sizes in which the offset of an element is its number in row-major order.
inline StridedShape numbers_of(const StridedShape& shape) { return shape.contiguous(ScalarType::Byte); }

/// Calls `visit` with the offsets of the elements at which a mask of the same sizes is true, in row-major order.
/// Offsets are in bytes from the view's first element. The mask may have any dtype; its elements are converted to Bool.
void for_each_chosen(const ConstStridedView& mask, const StridedShape& view,
                     ::executorch::runtime::FunctionRef<void(const int64_t* offsets, int64_t n)> visit);

/// The number of true elements of a mask.
int64_t count_true(const ConstStridedView& mask);

/// Finds the address of an element by its number in row-major order.
class InOrder {
 public:
  /// `n` elements at a constant stride. `offset` is that of the first one from the tensor's first element. `offset` and
  /// `stride` are in bytes.
  struct Run {
    int64_t offset;
    int64_t stride;
    int64_t n;
  };

  explicit InOrder(const StridedShape& shape);

  /// The element with number `i`, and the following elements up to the end of the row.
  Run from(int64_t i) const;

 private:
  // The shape with adjacent dimensions merged: a contiguous tensor has one dimension.
  int64_t rank_ = 0;
  int64_t sizes_[kTensorDimensionLimit];
  int64_t strides_[kTensorDimensionLimit];  // in bytes
};

}  // namespace rules_executorch::kernels
