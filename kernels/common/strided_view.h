#pragma once

#include <cstdint>

#include "kernels/common/dtype.h"

namespace rules_executorch::kernels {

using ::executorch::runtime::kTensorDimensionLimit;

/// A tensor's elements as sizes and strides over its memory: what elementwise loops, copies and reductions read and
/// write. Operators that only move data describe their result as a view of the input and copy it.
struct StridedView {
  char* data = nullptr;  // first element; inputs are only read
  ScalarType dtype = ScalarType::Undefined;
  int64_t dim = 0;
  int64_t sizes[kTensorDimensionLimit] = {};
  int64_t strides[kTensorDimensionLimit] = {};  // in elements; 0 repeats an element, negative goes backwards

  StridedView() = default;
  explicit StridedView(const Tensor& tensor);

  int64_t numel() const;
  int64_t element_size() const { return static_cast<int64_t>(elementSize(dtype)); }

  /// The same elements with dimension `i` of the result being dimension `order[i]` of this; `order` has `dim` entries.
  StridedView permute(const int64_t* order) const;

  /// `length` elements along `dimension`, from index `start`, `step` apart.
  StridedView slice(int64_t dimension, int64_t start, int64_t length, int64_t step = 1) const;

  /// The elements at `index` of `dimension`, which is dropped.
  StridedView select(int64_t dimension, int64_t index) const;

  /// A new dimension of size 1 before `dimension`.
  StridedView unsqueeze(int64_t dimension) const;

  /// Repeated along leading and size-1 dimensions to the shape of `shape`, which this must broadcast to.
  StridedView broadcast_to(const StridedView& shape) const;
};

}  // namespace rules_executorch::kernels
