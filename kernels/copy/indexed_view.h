#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>
#include <optional>

#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Which elements of a tensor index tensors choose, `tensor[indices]` as in PyTorch: Long or Int tensors, which
/// broadcast to each other, hold positions in one dimension (negative ones count from its end); Bool or Byte masks
/// choose positions in as many dimensions as they have; a dimension without an index is taken as a whole. The
/// dimensions of the indices stand where those are that they index, or first if these lie apart.
class IndexedView {
 public:
  /// Rows of chosen elements, as many for each step of the indices, and the rows of another view that belong to them.
  /// Offsets are from a view's first element; they and strides are in bytes.
  struct Rows {
    int64_t chosen_offset;
    const int64_t* chosen_offsets;  // of each row, from chosen_offset on
    int64_t chosen_stride;          // from one element of a row to the next
    int64_t other_offset;
    int64_t other_step;  // from one row to the next
    int64_t other_stride;
    int64_t element_size;
    int64_t count;
    int64_t n;  // elements of each row
  };
  using Visit = ::executorch::runtime::FunctionRef<void(const Rows& rows)>;

  /// Chooses from `tensor`. False where the indices do not fit it or choose what does not exist. Called first, once.
  bool init(const StridedShape& tensor, const ArrayRef<std::optional<Tensor>>& indices);

  /// Whether an index is not null: without one, the whole tensor is chosen.
  bool has_index() const { return index_count_ > 0; }

  /// The sizes of what is chosen.
  const StridedShape& shape() const { return shape_; }

  /// Calls `visit` until all chosen elements have been visited with those of `other`, which has their shape and dtype.
  /// What is chosen repeatedly is visited in the order of the indices.
  void for_each_rows(const StridedShape& other, Visit visit) const;

 private:
  struct Index {
    ConstStridedView values;  // positions, broadcast to all steps, or a mask as it is
    int64_t dimension;        // of the tensor; a mask's first one
    int64_t mask_count;       // elements that a mask chooses, -1 for positions
  };

  bool add_index(const Tensor& index, int64_t dimension);
  bool make_shape();
  bool positions_exist() const;
  void add_offsets(const Index& index, const int64_t* step, int64_t n, int64_t* offsets) const;
  void add_mask_offsets(const Index& index, int64_t first, int64_t n, int64_t* position, int64_t* offsets) const;

  StridedShape tensor_;
  Index indices_[kTensorDimensionLimit];
  int64_t index_count_ = 0;
  bool is_indexed_[kTensorDimensionLimit] = {};  // by dimension of the tensor
  StridedShape steps_;                           // the shape that the indices broadcast to
  int64_t steps_dimension_ = 0;                  // where that stands in `shape_`
  StridedShape rest_;                            // the tensor without its indexed dimensions, at their position 0
  StridedShape shape_;
};

/// Copies what `chosen` chooses of `source` to `target`, which has its shape and dtype.
void gather(const ConstStridedView& source, const IndexedView& chosen, const StridedView& target);

/// Copies `source` to what `chosen` chooses of `target`, which has its shape and dtype.
void scatter(const ConstStridedView& source, const IndexedView& chosen, const StridedView& target);

}  // namespace rules_executorch::kernels
