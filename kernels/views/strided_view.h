#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

using ::executorch::runtime::kTensorDimensionLimit;

/// The layout of a tensor's elements, relative to its first element.
struct StridedShape {
  ScalarType dtype = ScalarType::Undefined;
  int64_t rank = 0;  // the number of dimensions
  int64_t sizes[kTensorDimensionLimit] = {};
  int64_t strides[kTensorDimensionLimit] = {};  // in elements; 0 repeats an element; may be negative

  int64_t numel() const;

  /// The contiguous row-major shape with the same sizes and dtype `type`.
  StridedShape contiguous(ScalarType type) const;

  /// Sets `order` to the dimensions from the outermost in memory to the innermost. Dimensions with equal strides keep
  /// their order.
  void memory_order(int64_t* order) const;

  int64_t element_size() const { return static_cast<int64_t>(elementSize(dtype)); }
};

/// A tensor's elements as sizes and strides over memory. Elementwise loops, copies and reductions read and write views.
/// Operators that only move data create a view of the input and copy the view.
template <typename Byte>
struct BasicStridedView : StridedShape {
  static constexpr bool kIsConst = std::is_const_v<Byte>;

  Byte* data = nullptr;  // first element

  BasicStridedView() = default;
  explicit BasicStridedView(std::conditional_t<kIsConst, const Tensor&, Tensor&> tensor);

  /// A writable view converts to a read-only view.
  template <typename Other, typename = std::enable_if_t<kIsConst && !std::is_const_v<Other>>>
  BasicStridedView(const BasicStridedView<Other>& view) : StridedShape(view), data(view.data) {}

  /// Permutes the dimensions: dimension `i` of the result is dimension `order[i]` of this view. `order` has `rank`
  /// entries.
  BasicStridedView permute(const int64_t* order) const;

  /// `length` elements along `dimension`, from index `start` on, with step `step`.
  BasicStridedView slice(int64_t dimension, int64_t start, int64_t length, int64_t step = 1) const;

  /// The elements at `index` of `dimension`. The dimension is removed.
  BasicStridedView select(int64_t dimension, int64_t index) const;

  /// Inserts a dimension of size 1 before `dimension`.
  BasicStridedView unsqueeze(int64_t dimension) const;

  /// Broadcasts the view to the sizes of `shape`. The view must be broadcastable to `shape`.
  BasicStridedView broadcast_to(const StridedShape& shape) const;
};

/// A writable view, for outputs.
using StridedView = BasicStridedView<char>;

/// A read-only view, for inputs.
using ConstStridedView = BasicStridedView<const char>;

}  // namespace rules_executorch::kernels
