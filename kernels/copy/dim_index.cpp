#include "kernels/copy/dim_index.h"

#include <algorithm>

#include "kernels/copy/offset_copy.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {
namespace {

/// Returns `n` positions of `index`, from byte `offset` on. Copies them to `block` unless they are contiguous Longs.
const int64_t* load_positions(const ConstStridedView& index, int64_t offset, int64_t stride, int64_t* block,
                              int64_t n) {
  const char* const first = index.data + offset;
  if (index.dtype == ScalarType::Long && stride == sizeof(int64_t)) {
    return reinterpret_cast<const int64_t*>(first);
  }
  load_block(index.dtype, first, stride, ScalarType::Long, block, n);
  return block;
}

/// Sets `offsets[i]` to first + i * step + positions[i] * stride. All in bytes.
void make_offsets(const int64_t* positions, int64_t stride, int64_t first, int64_t step, int64_t* offsets, int64_t n) {
  vectorized_for(n, [=](int64_t i) { offsets[i] = first + i * step + positions[i] * stride; });
}

}  // namespace

DimIndex::DimIndex(const StridedShape& tensor, int64_t dim, const ConstStridedView& index)
    : tensor_(tensor), stride_(tensor.strides[dim] * tensor.element_size()), index_(index) {
  std::copy_n(index.sizes, index.rank, tensor_.sizes);
  tensor_.strides[dim] = 0;
}

void DimIndex::for_each_row(const StridedShape& other, Visit visit) const {
  const LoopNest nest = loops(other);
  nest.for_each_row(0, nest.numel(), [&](const int64_t* offsets, int64_t n) { visit_row(nest, offsets, n, visit); });
}

void DimIndex::parallel_for_each_row(const StridedShape& other, Visit visit) const {
  const LoopNest nest = loops(other);
  nest.parallel_for_each_row(kGrain, [&](const int64_t* offsets, int64_t n) { visit_row(nest, offsets, n, visit); });
}

void DimIndex::visit_row(const LoopNest& nest, const int64_t* offsets, int64_t row_size, Visit visit) const {
  const int64_t other_stride = nest.row_stride(0);
  const int64_t index_stride = nest.row_stride(1);
  const int64_t step = nest.row_stride(2);
  int64_t block[kBlockSize];
  for (int64_t start = 0; start < row_size; start += kBlockSize) {
    const int64_t n = std::min(kBlockSize, row_size - start);
    const int64_t* const positions = load_positions(index_, offsets[1] + start * index_stride, index_stride, block, n);
    make_offsets(positions, stride_, offsets[2] + start * step, step, block, n);
    visit({block, offsets[0] + start * other_stride, other_stride, n});
  }
}

bool positions_exist(const ConstStridedView& index, int64_t size) {
  ET_CHECK_OR_RETURN_FALSE(index.dtype == ScalarType::Long || index.dtype == ScalarType::Int,
                           "expected an index of dtype Long or Int, got dtype %d", static_cast<int>(index.dtype));
  const LoopNest nest = LoopNest::over(index);
  const int64_t stride = nest.row_stride(0);
  const int64_t last = size - 1;
  bool exist = true;
  nest.for_each_row(0, nest.numel(), [&](const int64_t* offsets, int64_t row_size) {
    int64_t block[kBlockSize];
    for (int64_t start = 0; start < row_size; start += kBlockSize) {
      const int64_t n = std::min(kBlockSize, row_size - start);
      const int64_t* const positions = load_positions(index, offsets[0] + start * stride, stride, block, n);
      // The sign bit is set if a position is negative or too large.
      LaneReduction<int64_t> signs(0);
      signs.add(n, positions, [last](int64_t sign, int64_t position) { return sign | position | (last - position); });
      exist &= signs.result([](int64_t a, int64_t b) { return a | b; }) >= 0;
    }
  });
  ET_CHECK_OR_RETURN_FALSE(exist, "an index is out of bounds for a dimension of size %lld",
                           static_cast<long long>(size));
  return true;
}

bool fits_within(const StridedShape& index, const StridedShape& tensor, int64_t except) {
  ET_CHECK_OR_RETURN_FALSE(index.rank == tensor.rank, "the index has %d dimensions, the tensor has %d", int(index.rank),
                           int(tensor.rank));
  for (int64_t d = 0; d < index.rank; ++d) {
    ET_CHECK_OR_RETURN_FALSE(d == except || index.sizes[d] <= tensor.sizes[d],
                             "the index has size %d in dimension %d, expected at most %d", int(index.sizes[d]), int(d),
                             int(tensor.sizes[d]));
  }
  return true;
}

void gather(const ConstStridedView& source, const DimIndex& chosen, const StridedView& target) {
  chosen.parallel_for_each_row(target, [&](const DimIndex::Row& row) {
    gather_elements(source.data, row.chosen_offsets, target.data + row.other_offset, row.other_stride,
                    target.element_size(), row.n);
  });
}

void scatter(const ConstStridedView& source, const DimIndex& chosen, const StridedView& target) {
  chosen.for_each_row(source, [&](const DimIndex::Row& row) {
    scatter_elements(source.data + row.other_offset, row.other_stride, target.data, row.chosen_offsets,
                     target.element_size(), row.n);
  });
}

}  // namespace rules_executorch::kernels
