#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>
#include <optional>

#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// The elements of a tensor that index tensors choose, `tensor[indices]` as in PyTorch. Long and Int tensors have
/// positions in one dimension; negative positions count from its end; the tensors broadcast to each other. Bool and
/// Byte masks choose positions in as many dimensions as the mask has. Dimensions without an index are kept whole. The
/// dimensions of the indices replace the indexed dimensions if these are adjacent, otherwise they come first.
class IndexedView {
 public:
  /// Rows of chosen elements, one for each of `count` steps of the indices, and the corresponding rows of another view.
  /// Offsets are from a view's first element. Offsets and strides are in bytes.
  struct Rows {
    int64_t chosen_offset;
    const int64_t* chosen_offsets;  // of each row, relative to chosen_offset
    int64_t chosen_stride;          // from one element of a row to the next
    int64_t other_offset;
    int64_t other_step;  // from one row to the next
    int64_t other_stride;
    int64_t element_size;
    int64_t count;
    int64_t n;  // elements of each row
  };
  using Visit = ::executorch::runtime::FunctionRef<void(const Rows& rows)>;

  /// Chooses elements of `tensor`. Returns false if the indices do not fit the tensor or a position is out of range.
  /// Call this function once, before the others.
  bool init(const StridedShape& tensor, const ArrayRef<std::optional<Tensor>>& indices);

  /// Whether at least one index is not null. Without an index, the whole tensor is chosen.
  bool has_index() const { return index_count_ > 0; }

  /// The sizes of the result.
  const StridedShape& shape() const { return shape_; }

  /// Calls `visit` for all chosen elements, with the corresponding elements of `other`. `other` has the shape of the
  /// result and the dtype of the tensor. Elements that are chosen several times are visited in the order of the
  /// indices.
  void for_each_rows(const StridedShape& other, Visit visit) const;

  /// The same on several threads (see `parallel_for`), in any order.
  void parallel_for_each_rows(const StridedShape& other, Visit visit) const;

 private:
  struct Index {
    ConstStridedView values;  // positions, broadcast to all steps, or an unchanged mask
    int64_t dimension;        // the first indexed dimension of the tensor
    int64_t mask_count;       // the number of true elements of a mask, -1 for positions
  };

  bool add_index(const Tensor& index, int64_t dimension);
  bool make_shape();
  bool positions_exist() const;

  /// Visits the steps from number `begin` to `end` (exclusive), in row-major order. A mask has its positions in this
  /// order, from the first one on: with masks, `begin` is 0.
  void visit_steps(const StridedShape& other, int64_t begin, int64_t end, Visit visit) const;
  void add_offsets(const Index& index, const int64_t* step, int64_t n, int64_t* offsets) const;
  void add_mask_offsets(const Index& index, int64_t first, int64_t n, int64_t* position, int64_t* offsets) const;

  StridedShape tensor_;
  Index indices_[kTensorDimensionLimit];
  int64_t index_count_ = 0;
  bool is_indexed_[kTensorDimensionLimit] = {};  // by dimension of the tensor
  StridedShape steps_;                           // the shape that the indices broadcast to
  int64_t steps_dimension_ = 0;                  // the position of the steps' dimensions in `shape_`
  StridedShape rest_;                            // the tensor without its indexed dimensions, at index 0 of these
  StridedShape shape_;
};

/// Copies the elements of `source` that `chosen` chooses to `target`, which has the same shape and dtype.
void gather(const ConstStridedView& source, const IndexedView& chosen, const StridedView& target);

/// Copies `source` to the elements of `target` that `chosen` chooses; `source` has the same shape and dtype.
void scatter(const ConstStridedView& source, const IndexedView& chosen, const StridedView& target);

}  // namespace rules_executorch::kernels
