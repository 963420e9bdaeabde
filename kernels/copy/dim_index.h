#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>

#include "kernels/tensors/dtype.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// An index tensor as in gather and scatter: each element is a position along one dimension of another tensor. The
/// chosen elements have the shape of the index tensor.
class DimIndex {
 public:
  /// A part of the chosen elements and the corresponding elements of another view. All offsets are in bytes from the
  /// first element of the tensor or view.
  struct Row {
    const int64_t* chosen_offsets;
    int64_t other_offset;
    int64_t other_stride;
    int64_t n;
  };
  using Visit = ::executorch::runtime::FunctionRef<void(const Row& row)>;

  /// Chooses elements of `tensor` along `dim`. `dim` must not be negative. In all other dimensions, `tensor` must be at
  /// least as large as `index`. Both must have `dim`: add a dimension to 0-dim tensors with with_dimension().
  DimIndex(const StridedShape& tensor, int64_t dim, const ConstStridedView& index);

  /// Calls `visit` for all chosen elements, with the corresponding elements of `other`, in the order of other's memory.
  /// `other` has the shape of the index.
  void for_each_row(const StridedShape& other, Visit visit) const;

  /// The same on several threads (see `parallel_for`).
  void parallel_for_each_row(const StridedShape& other, Visit visit) const;

 private:
  LoopNest loops(const StridedShape& other) const { return LoopNest::over(other, index_, tensor_); }

  /// Visits a row of `nest`.
  void visit_row(const LoopNest& nest, const int64_t* offsets, int64_t row_size, Visit visit) const;

  StridedShape tensor_;  // the index's sizes with the tensor's strides, 0 along `dim`
  int64_t stride_;       // of the tensor along `dim`, in bytes
  ConstStridedView index_;
};

/// Whether the dtype of `index` is Int or Long and all its positions exist in a dimension of `size` elements.
bool positions_exist(const ConstStridedView& index, int64_t size);

/// Whether `index` is at most as large as `tensor` in all dimensions, except in dimension `except`.
bool fits_within(const StridedShape& index, const StridedShape& tensor, int64_t except);

/// `view`, or `view` with a dimension of size 1 if `view` is 0-dim.
template <typename View>
View with_dimension(const View& view) {
  return view.rank == 0 ? view.unsqueeze(0) : view;
}

/// Copies the elements of `source` that `chosen` chooses to `target`, which has the shape of the index.
void gather(const ConstStridedView& source, const DimIndex& chosen, const StridedView& target);

/// Copies `source`, which has the shape of the index, to the elements of `target` that `chosen` chooses. If several
/// elements of `source` go to the same element, any of them is the result.
void scatter(const ConstStridedView& source, const DimIndex& chosen, const StridedView& target);

}  // namespace rules_executorch::kernels
