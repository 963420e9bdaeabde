#include "kernels/common/dim_index.h"

#include <algorithm>
#include <cstring>

#include "kernels/common/block.h"
#include "kernels/common/convert.h"
#include "kernels/common/loop_nest.h"

namespace rules_executorch::kernels {
namespace {

/// Positions of `index`, from its byte `offset` on: where they lie if they lie well, else in `block`.
const int64_t* load_positions(const ConstStridedView& index, int64_t offset, int64_t stride, int64_t* block,
                              int64_t n) {
  const char* const first = index.data + offset;
  if (index.dtype == ScalarType::Long && stride == sizeof(int64_t)) {
    return reinterpret_cast<const int64_t*>(first);
  }
  load_block(index.dtype, first, stride, ScalarType::Long, block, n);
  return block;
}

/// Copies elements between two memories: those at offsets of the one, those at a stride of the other.
template <typename Element, bool kToChosen>
void copy_row(const DimIndex::Row& row, char* target, const char* source) {
  int64_t other = row.other_offset;
  for (int64_t i = 0; i < row.n; ++i, other += row.other_stride) {
    std::memcpy(target + (kToChosen ? row.chosen_offsets[i] : other),
                source + (kToChosen ? other : row.chosen_offsets[i]), sizeof(Element));
  }
}

template <bool kToChosen>
void copy_chosen(const ConstStridedView& source, const DimIndex& chosen, const StridedView& target) {
  const auto copy = [&] {
    switch (target.element_size()) {
      case 1:
        return &copy_row<uint8_t, kToChosen>;
      case 2:
        return &copy_row<uint16_t, kToChosen>;
      case 4:
        return &copy_row<uint32_t, kToChosen>;
      default:
        return &copy_row<uint64_t, kToChosen>;
    }
  }();
  const StridedShape& other = kToChosen ? static_cast<const StridedShape&>(source) : target;
  chosen.for_each_row(other, [&](const DimIndex::Row& row) {
    // Elements of 16 bytes as their halves.
    for (int64_t half = 0; half < target.element_size(); half += sizeof(uint64_t)) {
      copy(row, target.data + half, source.data + half);
    }
  });
}

}  // namespace

DimIndex::DimIndex(const StridedShape& tensor, int64_t dim, const ConstStridedView& index)
    : tensor_(tensor), stride_(tensor.strides[dim] * tensor.element_size()), index_(index) {
  std::copy_n(index.sizes, index.rank, tensor_.sizes);
  tensor_.strides[dim] = 0;
}

void DimIndex::for_each_row(const StridedShape& other, Visit visit) const {
  const LoopNest nest = LoopNest::over(other, index_, tensor_);
  const int64_t other_stride = nest.row_stride(0);
  const int64_t index_stride = nest.row_stride(1);
  const int64_t step = nest.row_stride(2);
  nest.for_each_row(0, nest.numel(), [&](const int64_t* offsets, int64_t row_size) {
    int64_t block[kBlockSize];
    for (int64_t start = 0; start < row_size; start += kBlockSize) {
      const int64_t n = std::min(kBlockSize, row_size - start);
      const int64_t* const positions =
          load_positions(index_, offsets[1] + start * index_stride, index_stride, block, n);
      int64_t first = offsets[2] + start * step;
      for (int64_t i = 0; i < n; ++i, first += step) {
        block[i] = first + positions[i] * stride_;
      }
      visit({block, offsets[0] + start * other_stride, other_stride, n});
    }
  });
}

bool positions_exist(const ConstStridedView& index, int64_t size) {
  ET_CHECK_OR_RETURN_FALSE(index.dtype == ScalarType::Long || index.dtype == ScalarType::Int,
                           "an index is Long or Int, not %d", static_cast<int>(index.dtype));
  const LoopNest nest = LoopNest::over(index);
  const int64_t stride = nest.row_stride(0);
  bool exist = true;
  nest.for_each_row(0, nest.numel(), [&](const int64_t* offsets, int64_t row_size) {
    int64_t block[kBlockSize];
    for (int64_t start = 0; start < row_size; start += kBlockSize) {
      const int64_t n = std::min(kBlockSize, row_size - start);
      const int64_t* const positions = load_positions(index, offsets[0] + start * stride, stride, block, n);
      for (int64_t i = 0; i < n; ++i) {
        // As unsigned numbers, negative ones are too large.
        exist &= static_cast<uint64_t>(positions[i]) < static_cast<uint64_t>(size);
      }
    }
  });
  ET_CHECK_OR_RETURN_FALSE(exist, "an index is out of bounds for a dimension of size %lld",
                           static_cast<long long>(size));
  return true;
}

bool fits_within(const StridedShape& index, const StridedShape& tensor, int64_t except) {
  ET_CHECK_OR_RETURN_FALSE(index.rank == tensor.rank, "an index of %d dimensions for a tensor of %d", int(index.rank),
                           int(tensor.rank));
  for (int64_t d = 0; d < index.rank; ++d) {
    ET_CHECK_OR_RETURN_FALSE(d == except || index.sizes[d] <= tensor.sizes[d],
                             "an index of size %d in dimension %d, where there are %d elements", int(index.sizes[d]),
                             int(d), int(tensor.sizes[d]));
  }
  return true;
}

void gather(const ConstStridedView& source, const DimIndex& chosen, const StridedView& target) {
  copy_chosen</*kToChosen=*/false>(source, chosen, target);
}

void scatter(const ConstStridedView& source, const DimIndex& chosen, const StridedView& target) {
  copy_chosen</*kToChosen=*/true>(source, chosen, target);
}

}  // namespace rules_executorch::kernels
