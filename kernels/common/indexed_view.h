#pragma once

#include <cstdint>

#include "kernels/common/strided_view.h"

namespace rules_executorch::kernels {

/// The elements of a tensor that index tensors choose, `tensor[indices]` as in PyTorch: Long or Int tensors, which
/// broadcast to each other, hold positions in one dimension (negative ones count from its end); Bool or Byte masks
/// choose positions in as many dimensions as they have; a dimension without an index is taken as a whole. The
/// dimensions of the indices stand where those are that they index, or first if these lie apart.
class IndexedView {
 public:
  /// Some of the chosen elements and those of another view that belong to them; strides in bytes.
  struct Row {
    char* chosen;
    int64_t chosen_stride;
    char* other;
    int64_t other_stride;
    int64_t element_size;
    int64_t n;
  };

  /// Chooses from `tensor`. False where the indices do not fit it or choose what does not exist. Called first, once.
  bool init(const StridedView& tensor, const ArrayRef<std::optional<Tensor>>& indices);

  /// The shape of what is chosen; a view without elements.
  const StridedView& shape() const { return shape_; }

  /// Calls `visit` until all chosen elements have been visited with those of `other`, which has their shape and dtype.
  /// What is chosen repeatedly is visited in the order of the indices.
  void for_each_row(const StridedView& other, void (*visit)(const Row& row)) const;

 private:
  struct Index {
    StridedView values;  // positions, broadcast to all steps, or a mask as it is
    int64_t dimension;   // of the tensor; a mask's first one
    int64_t mask_count;  // elements that a mask chooses, -1 for positions
  };

  bool add_index(const Tensor& index, int64_t dimension);
  bool make_shape();
  bool positions_exist() const;
  void locate(const Index& index, const int64_t* step, int64_t* position) const;

  StridedView tensor_;
  Index indices_[kTensorDimensionLimit];
  int64_t index_count_ = 0;
  bool is_indexed_[kTensorDimensionLimit] = {};  // by dimension of the tensor
  StridedView steps_;                            // the shape that the indices broadcast to
  int64_t steps_dimension_ = 0;                  // where that stands in `shape_`
  StridedView rest_;                             // the tensor without its indexed dimensions, at their position 0
  StridedView shape_;
};

/// Copies what `source` chooses to `target`, which has its shape and dtype.
void copy(const IndexedView& source, const StridedView& target);

/// Copies `source` to what `target` chooses, which has its shape and dtype.
void copy(const StridedView& source, const IndexedView& target);

}  // namespace rules_executorch::kernels
