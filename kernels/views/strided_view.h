#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

using ::executorch::runtime::kTensorDimensionLimit;

/// Where a tensor's elements lie, from its first element on.
struct StridedShape {
  ScalarType dtype = ScalarType::Undefined;
  int64_t rank = 0;  // the number of dimensions
  int64_t sizes[kTensorDimensionLimit] = {};
  int64_t strides[kTensorDimensionLimit] = {};  // in elements; 0 repeats an element, negative goes backwards

  int64_t numel() const;

  /// The same sizes in the order of the indices, of elements of dtype `type` next to each other.
  StridedShape contiguous(ScalarType type) const;

  /// Sets `order` to the dimensions from the outermost in memory to the innermost; equal strides keep their order.
  void memory_order(int64_t* order) const;

  int64_t element_size() const { return static_cast<int64_t>(elementSize(dtype)); }
};

/// A tensor's elements as sizes and strides over its memory: what elementwise loops, copies and reductions read and
/// write. Operators that only move data describe their result as a view of the input and copy it.
template <typename Byte>
struct BasicStridedView : StridedShape {
  static constexpr bool kIsConst = std::is_const_v<Byte>;

  Byte* data = nullptr;  // first element

  BasicStridedView() = default;
  explicit BasicStridedView(std::conditional_t<kIsConst, const Tensor&, Tensor&> tensor);

  /// Whatever can be written can be read.
  template <typename Other, typename = std::enable_if_t<kIsConst && !std::is_const_v<Other>>>
  BasicStridedView(const BasicStridedView<Other>& view) : StridedShape(view), data(view.data) {}

  /// The same elements with dimension `i` of the result being dimension `order[i]` of this; `order` has `rank` entries.
  BasicStridedView permute(const int64_t* order) const;

  /// `length` elements along `dimension`, from index `start`, `step` apart.
  BasicStridedView slice(int64_t dimension, int64_t start, int64_t length, int64_t step = 1) const;

  /// The elements at `index` of `dimension`, which is dropped.
  BasicStridedView select(int64_t dimension, int64_t index) const;

  /// A new dimension of size 1 before `dimension`.
  BasicStridedView unsqueeze(int64_t dimension) const;

  /// Repeated along leading and size-1 dimensions to the sizes of `shape`, which this must broadcast to.
  BasicStridedView broadcast_to(const StridedShape& shape) const;
};

/// The elements of an output.
using StridedView = BasicStridedView<char>;

/// The elements of an input, which are only read.
using ConstStridedView = BasicStridedView<const char>;

}  // namespace rules_executorch::kernels
