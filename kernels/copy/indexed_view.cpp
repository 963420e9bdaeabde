#include "kernels/copy/indexed_view.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/copy/offset_copy.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/simd/vector.h"
#include "kernels/tensors/convert.h"
#include "kernels/views/loop_nest.h"

namespace rules_executorch::kernels {
namespace {

/// The number of bytes from the first element of `view` to the one at `position`.
int64_t offset_of(const StridedShape& view, const int64_t* position) {
  int64_t offset = 0;
  for (int64_t d = 0; d < view.rank; ++d) {
    offset += position[d] * view.strides[d];
  }
  return offset * view.element_size();
}

/// Increments `position` in the first `rank` dimensions of `view`, the last one first. Returns false at the end.
bool advance(const StridedShape& view, int64_t rank, int64_t* position) {
  for (int64_t d = rank - 1; d >= 0; --d) {
    if (++position[d] < view.sizes[d]) {
      return true;
    }
    position[d] = 0;
  }
  return false;
}

void drop_dimension(StridedShape& shape, int64_t d) {
  std::copy(shape.sizes + d + 1, shape.sizes + shape.rank, shape.sizes + d);
  std::copy(shape.strides + d + 1, shape.strides + shape.rank, shape.strides + d);
  --shape.rank;
}

/// Loads a position from a tensor of dtype Long or Int.
int64_t load_position(ScalarType type, const char* pointer) {
  return type == ScalarType::Long ? *reinterpret_cast<const int64_t*>(pointer)
                                  : *reinterpret_cast<const int32_t*>(pointer);
}

/// The number of steps whose offsets are computed at a time.
constexpr int64_t kMostSteps = 256;
/// How many rows ahead the start of a row is prefetched. Chosen rows are anywhere in memory, where the processor's own
/// prefetching does not find them.
constexpr int64_t kRowsAhead = 12;
/// For rows with fewer elements, the inner loop goes over the rows instead of over the elements of a row.
constexpr int64_t kShortRow = 8;

/// The cost of an element that is read from anywhere in memory, in additions.
constexpr int64_t kWorkOfChoice = 4;

/// Whether the inner loop goes over the rows: the rows are short, or adjacent rows are closer than adjacent elements.
bool loops_over_rows(const IndexedView::Rows& rows) {
  return rows.n < kShortRow || std::abs(rows.other_step) < std::abs(rows.other_stride);
}

/// Whether adjacent rows have adjacent elements in both views.
bool are_adjacent(const IndexedView::Rows& rows) {
  if (rows.other_step != rows.element_size) {
    return false;
  }
  for (int64_t k = 1; k < rows.count; ++k) {
    if (rows.chosen_offsets[k] != rows.chosen_offsets[k - 1] + rows.element_size) {
      return false;
    }
  }
  return true;
}

/// Adds the offsets of `n` positions to `offsets`. The positions are `values_stride` elements apart. The indexed
/// dimension has `size` positions, which are `stride` bytes apart.
template <typename T>
void add_position_offsets(const T* values, int64_t values_stride, int64_t n, int64_t size, int64_t stride,
                          int64_t* offsets) {
  for (int64_t k = 0; k < n; ++k) {
    const int64_t position = values[k * values_stride];
    offsets[k] += (position < 0 ? position + size : position) * stride;
  }
}

}  // namespace

bool IndexedView::init(const StridedShape& tensor, const ArrayRef<std::optional<Tensor>>& indices) {
  tensor_ = tensor;
  int64_t dimension = 0;
  for (const std::optional<Tensor>& index : indices) {
    if (!index.has_value()) {
      ++dimension;
      continue;
    }
    ET_LOG_AND_RETURN_IF_FALSE(add_index(*index, dimension));
    const bool is_mask = indices_[index_count_ - 1].mask_count >= 0;
    dimension += is_mask ? index->dim() : 1;
  }
  ET_CHECK_OR_RETURN_FALSE(dimension <= tensor.rank, "indices for %d dimensions, but the tensor has only %d",
                           int(dimension), int(tensor.rank));
  ET_LOG_AND_RETURN_IF_FALSE(make_shape());
  ET_LOG_AND_RETURN_IF_FALSE(positions_exist());
  for (int64_t i = 0; i < index_count_; ++i) {
    if (indices_[i].mask_count < 0) {
      indices_[i].values = indices_[i].values.broadcast_to(steps_);
    }
  }
  return true;
}

bool IndexedView::add_index(const Tensor& index, int64_t dimension) {
  const ScalarType type = index.scalar_type();
  const bool is_mask = type == ScalarType::Bool || type == ScalarType::Byte;
  ET_CHECK_OR_RETURN_FALSE(is_mask || type == ScalarType::Long || type == ScalarType::Int,
                           "expected an index of dtype Long, Int, Bool or Byte, got dtype %d", int(type));
  const int64_t end = dimension + (is_mask ? index.dim() : 1);
  ET_CHECK_OR_RETURN_FALSE(end <= tensor_.rank, "indices for %d dimensions, but the tensor has only %d", int(end),
                           int(tensor_.rank));
  ET_CHECK_OR_RETURN_FALSE(end > dimension, "expected a mask with at least one dimension, got a 0-dim mask");
  std::fill(is_indexed_ + dimension, is_indexed_ + end, true);

  Index& added = indices_[index_count_++];
  added.values = ConstStridedView(index);
  added.dimension = dimension;
  added.mask_count = -1;
  if (is_mask) {
    for (int64_t d = 0; d < index.dim(); ++d) {
      ET_CHECK_OR_RETURN_FALSE(added.values.sizes[d] == tensor_.sizes[dimension + d],
                               "the mask has size %d, but dimension %d has size %d", int(added.values.sizes[d]),
                               int(dimension + d), int(tensor_.sizes[dimension + d]));
    }
    const char* elements = added.values.data;
    added.mask_count = index.numel() - std::count(elements, elements + index.numel(), 0);
  }
  return true;
}

bool IndexedView::make_shape() {
  // The shape that the indices broadcast to. A mask counts as a list of its true positions.
  for (int64_t i = 0; i < index_count_; ++i) {
    const Index& index = indices_[i];
    const bool is_mask = index.mask_count >= 0;
    StridedShape list;
    list.rank = 1;
    list.sizes[0] = index.mask_count;
    const StridedShape& positions = is_mask ? list : static_cast<const StridedShape&>(index.values);
    for (; steps_.rank < positions.rank; ++steps_.rank) {
      std::copy_backward(steps_.sizes, steps_.sizes + steps_.rank, steps_.sizes + steps_.rank + 1);
      steps_.sizes[0] = 1;
    }
    int64_t* aligned = steps_.sizes + (steps_.rank - positions.rank);
    for (int64_t d = 0; d < positions.rank; ++d) {
      if (aligned[d] == 1) {
        aligned[d] = positions.sizes[d];
      }
      ET_CHECK_OR_RETURN_FALSE(positions.sizes[d] == 1 || positions.sizes[d] == aligned[d],
                               "indices do not broadcast: sizes %d and %d in the same dimension", int(aligned[d]),
                               int(positions.sizes[d]));
    }
  }

  // The dimensions of the indices replace the indexed dimensions if these are adjacent, otherwise they come first.
  const bool* const begin = is_indexed_;
  const bool* const end = begin + tensor_.rank;
  const bool* const first = std::find(begin, end, true);
  const bool* const past = std::find(first, end, false);
  steps_dimension_ = std::find(past, end, true) == end ? first - begin : 0;

  rest_ = tensor_;
  for (int64_t d = tensor_.rank - 1; d >= 0; --d) {
    if (is_indexed_[d]) {
      drop_dimension(rest_, d);
    }
  }

  shape_.rank = steps_.rank + rest_.rank;
  ET_CHECK_OR_RETURN_FALSE(shape_.rank <= static_cast<int64_t>(kTensorDimensionLimit), "too many dimensions: %d",
                           int(shape_.rank));
  int64_t* next = std::copy_n(rest_.sizes, steps_dimension_, shape_.sizes);
  next = std::copy_n(steps_.sizes, steps_.rank, next);
  std::copy(rest_.sizes + steps_dimension_, rest_.sizes + rest_.rank, next);
  return true;
}

bool IndexedView::positions_exist() const {
  const bool reads_positions = shape_.numel() > 0;
  for (int64_t i = 0; i < index_count_; ++i) {
    const Index& index = indices_[i];
    const int64_t size = tensor_.sizes[index.dimension];
    if (index.mask_count >= 0) {
      continue;
    }
    ET_CHECK_OR_RETURN_FALSE(size > 0 || steps_.numel() == 0, "cannot index dimension %d, which has size 0",
                             int(index.dimension));
    // The memory of an index tensor is contiguous.
    const int64_t count = reads_positions ? index.values.numel() : 0;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t position = load_position(index.values.dtype, index.values.data + k * index.values.element_size());
      ET_CHECK_OR_RETURN_FALSE(position >= -size && position < size,
                               "index %lld is out of bounds for dimension %d of size %lld",
                               static_cast<long long>(position), int(index.dimension), static_cast<long long>(size));
    }
  }
  return true;
}

void IndexedView::add_offsets(const Index& index, const int64_t* step, int64_t n, int64_t* offsets) const {
  const ConstStridedView& values = index.values;
  const char* const first = values.data + offset_of(values, step);
  const int64_t values_stride = values.rank == 0 ? 0 : values.strides[values.rank - 1];
  const int64_t size = tensor_.sizes[index.dimension];
  const int64_t stride = tensor_.strides[index.dimension] * tensor_.element_size();
  if (values.dtype == ScalarType::Long) {
    add_position_offsets(reinterpret_cast<const int64_t*>(first), values_stride, n, size, stride, offsets);
  } else {
    add_position_offsets(reinterpret_cast<const int32_t*>(first), values_stride, n, size, stride, offsets);
  }
}

void IndexedView::add_mask_offsets(const Index& index, int64_t first, int64_t n, int64_t* position,
                                   int64_t* offsets) const {
  // Steps are in order, so that each position of the mask follows from the previous one.
  const ConstStridedView& mask = index.values;
  for (int64_t k = 0; k < n; ++k) {
    // A mask with one true position broadcasts this position to all steps.
    if (first + k == 0 || index.mask_count != 1) {
      if (first + k > 0) {
        advance(mask, mask.rank, position);
      } else {
        std::fill_n(position, mask.rank, 0);
      }
      while (mask.data[offset_of(mask, position)] == 0) {
        advance(mask, mask.rank, position);
      }
    }
    for (int64_t d = 0; d < mask.rank; ++d) {
      offsets[k] += position[d] * tensor_.strides[index.dimension + d] * tensor_.element_size();
    }
  }
}

void IndexedView::for_each_rows(const StridedShape& other, Visit visit) const {
  visit_steps(other, 0, steps_.numel(), visit);
}

void IndexedView::parallel_for_each_rows(const StridedShape& other, Visit visit) const {
  const bool has_mask =
      std::any_of(indices_, indices_ + index_count_, [](const Index& index) { return index.mask_count >= 0; });
  if (has_mask) {
    for_each_rows(other, visit);
    return;
  }
  parallel_for(0, steps_.numel(), kGrain / (kWorkOfChoice * std::max<int64_t>(rest_.numel(), 1)),
               [&](int64_t begin, int64_t end) { visit_steps(other, begin, end, visit); });
}

void IndexedView::visit_steps(const StridedShape& other, int64_t begin, int64_t end, Visit visit) const {
  if (shape_.numel() == 0) {
    return;
  }
  StridedShape other_rest = other;
  StridedShape other_steps = steps_;
  other_steps.dtype = other.dtype;
  for (int64_t d = steps_.rank - 1; d >= 0; --d) {
    other_steps.strides[d] = other.strides[steps_dimension_ + d];
    drop_dimension(other_rest, steps_dimension_ + d);
  }
  const LoopNest nest = LoopNest::over(rest_, other_rest);

  // With 0-dim indices, there is one step.
  const int64_t last = std::max<int64_t>(steps_.rank - 1, 0);
  const int64_t steps = steps_.rank == 0 ? 1 : steps_.sizes[last];
  const int64_t other_step = steps_.rank == 0 ? 0 : other_steps.strides[last] * other.element_size();
  int64_t step[kTensorDimensionLimit] = {};
  int64_t outer = begin / steps;
  for (int64_t d = last - 1; d >= 0; --d) {
    step[d] = outer % steps_.sizes[d];
    outer /= steps_.sizes[d];
  }
  step[last] = begin % steps;
  int64_t positions[kTensorDimensionLimit][kTensorDimensionLimit];  // the current position of each mask
  for (int64_t next = begin; next < end;) {
    const int64_t count = std::min({kMostSteps, steps - step[last], end - next});
    int64_t offsets[kMostSteps] = {};
    for (int64_t i = 0; i < index_count_; ++i) {
      if (indices_[i].mask_count < 0) {
        add_offsets(indices_[i], step, count, offsets);
      } else {
        add_mask_offsets(indices_[i], step[last], count, positions[i], offsets);
      }
    }
    const int64_t other_offset = offset_of(other_steps, step);
    nest.for_each_row(0, nest.numel(), [&](const int64_t* row, int64_t n) {
      visit({row[0], offsets, nest.row_stride(0), other_offset + row[1], other_step, nest.row_stride(1),
             tensor_.element_size(), count, n});
    });
    next += count;
    step[last] += count;
    if (step[last] == steps) {
      step[last] = 0;
      advance(steps_, last, step);
    }
  }
}

void gather(const ConstStridedView& source, const IndexedView& chosen, const StridedView& target) {
  chosen.parallel_for_each_rows(target, [&](const IndexedView::Rows& rows) {
    const char* const from = source.data + rows.chosen_offset;
    char* const to = target.data + rows.other_offset;
    if (!loops_over_rows(rows)) {
      for (int64_t k = 0; k < rows.count; ++k) {
        simd::prefetch(from + rows.chosen_offsets[std::min(k + kRowsAhead, rows.count - 1)]);
        copy_elements(from + rows.chosen_offsets[k], rows.chosen_stride, to + k * rows.other_step, rows.other_stride,
                      rows.element_size, rows.n);
      }
    } else if (are_adjacent(rows)) {
      // Slices and the inner part of padding are such rows.
      for (int64_t i = 0; i < rows.n; ++i) {
        std::memcpy(to + i * rows.other_stride, from + rows.chosen_offsets[0] + i * rows.chosen_stride,
                    static_cast<size_t>(rows.count * rows.element_size));
      }
    } else {
      for (int64_t i = 0; i < rows.n; ++i) {
        gather_elements(from + i * rows.chosen_stride, rows.chosen_offsets, to + i * rows.other_stride, rows.other_step,
                        rows.element_size, rows.count);
      }
    }
  });
}

void scatter(const ConstStridedView& source, const IndexedView& chosen, const StridedView& target) {
  chosen.for_each_rows(source, [&](const IndexedView::Rows& rows) {
    const char* const from = source.data + rows.other_offset;
    char* const to = target.data + rows.chosen_offset;
    if (loops_over_rows(rows)) {
      for (int64_t i = 0; i < rows.n; ++i) {
        scatter_elements(from + i * rows.other_stride, rows.other_step, to + i * rows.chosen_stride,
                         rows.chosen_offsets, rows.element_size, rows.count);
      }
    } else {
      for (int64_t k = 0; k < rows.count; ++k) {
        copy_elements(from + k * rows.other_step, rows.other_stride, to + rows.chosen_offsets[k], rows.chosen_stride,
                      rows.element_size, rows.n);
      }
    }
  });
}

}  // namespace rules_executorch::kernels
