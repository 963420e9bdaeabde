#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>

#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// An index tensor that holds a position along one dimension of another tensor for each of its own elements, as those
/// of gather and scatter do: the elements of its shape are chosen from a tensor.
class DimIndex {
 public:
  /// Some of the chosen elements, by their offsets from the tensor's first one, and those of another view that belong
  /// to them. All in bytes.
  struct Row {
    const int64_t* chosen_offsets;
    int64_t other_offset;
    int64_t other_stride;
    int64_t n;
  };
  using Visit = ::executorch::runtime::FunctionRef<void(const Row& row)>;

  /// Chooses along `dim`, which is not negative, from `tensor`, which is at least as large as `index` in all others.
  /// Both have `dim`: 0-dim tensors need a dimension first.
  DimIndex(const StridedShape& tensor, int64_t dim, const ConstStridedView& index);

  /// Calls `visit` until all chosen elements have been visited with those of `other`, which has index's shape, in the
  /// order of other's memory.
  void for_each_row(const StridedShape& other, Visit visit) const;

 private:
  StridedShape tensor_;  // index's shape with the tensor's strides, 0 along `dim`
  int64_t stride_;       // of the tensor along `dim`, in bytes
  ConstStridedView index_;
};

/// Whether `index` is of an integer dtype that holds positions, and these exist in a dimension of `size` elements.
bool positions_exist(const ConstStridedView& index, int64_t size);

/// Whether the sizes of `index` are those of no more elements than `tensor` has, except along `except`.
bool fits_within(const StridedShape& index, const StridedShape& tensor, int64_t except);

/// A view with at least one dimension: a 0-dim one gets one of size 1.
template <typename View>
View with_dimension(const View& view) {
  return view.rank == 0 ? view.unsqueeze(0) : view;
}

/// Copies what `chosen` chooses of `source` to `target`, which has index's shape.
void gather(const ConstStridedView& source, const DimIndex& chosen, const StridedView& target);

/// Copies `source`, of index's shape, to what `chosen` chooses of `target`; of several for one element, any.
void scatter(const ConstStridedView& source, const DimIndex& chosen, const StridedView& target);

}  // namespace rules_executorch::kernels
