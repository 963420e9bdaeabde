#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>

#include "kernels/common/strided_view.h"

namespace rules_executorch::kernels {

/// Elements of a mask that are true: calls `visit` with the number of each in the order of the indices, whatever the
/// mask's strides. A mask may be of any dtype, whose elements are read as Bools.
void for_each_true(const ConstStridedView& mask, ::executorch::runtime::FunctionRef<void(int64_t i)> visit);

/// How many of them there are.
int64_t count_true(const ConstStridedView& mask);

/// Where elements lie by their numbers in the order of the indices.
class InOrder {
 public:
  explicit InOrder(const StridedShape& shape);

  /// Of the element with the number `i`, in bytes from the first one.
  int64_t offset(int64_t i) const;

 private:
  // With as few dimensions as possible: a contiguous tensor has one.
  int64_t rank_ = 0;
  int64_t sizes_[kTensorDimensionLimit];
  int64_t strides_[kTensorDimensionLimit];  // in bytes
};

}  // namespace rules_executorch::kernels
