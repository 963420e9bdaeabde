#include "kernels/views/loop_nest.h"

#include <algorithm>

#include "kernels/parallel/parallel_for.h"

namespace rules_executorch::kernels {

LoopNest::LoopNest(const StridedShape* const* operands, int count) : count_(count) {
  const StridedShape& first = *operands[0];

  numel_ = first.numel();
  if (numel_ <= 1) {
    rank_ = 1;
    sizes_[0] = numel_;
    for (int k = 0; k < count; ++k) {
      // A row with one element can have any stride. With this stride, the row counts as contiguous.
      strides_[k][0] = operands[k]->element_size();
    }
    return;
  }

  int64_t order[kTensorDimensionLimit];
  first.memory_order(order);
  for (int64_t i = 0; i < first.rank; ++i) {
    const int64_t d = order[i];
    if (first.sizes[d] == 1) {
      continue;
    }
    bool merges = rank_ > 0;
    for (int k = 0; k < count && merges; ++k) {
      merges = strides_[k][rank_ - 1] == operands[k]->strides[d] * operands[k]->element_size() * first.sizes[d];
    }
    if (merges) {
      sizes_[rank_ - 1] *= first.sizes[d];
    } else {
      sizes_[rank_++] = first.sizes[d];
    }
    for (int k = 0; k < count; ++k) {
      strides_[k][rank_ - 1] = operands[k]->strides[d] * operands[k]->element_size();
    }
  }
}

LoopNest LoopNest::of_rows() const {
  LoopNest rows = *this;
  rows.numel_ /= row_size();
  --rows.rank_;
  return rows;
}

void LoopNest::for_each_row(int64_t begin, int64_t end, Visit visit) const {
  if (begin >= end) {
    return;
  }
  int64_t offsets[kMaxOperands] = {};
  if (rank_ == 1) {
    for (int k = 0; k < count_; ++k) {
      offsets[k] = begin * strides_[k][0];
    }
    visit(offsets, end - begin);
    return;
  }
  int64_t index[kTensorDimensionLimit + 1];
  int64_t left = begin;
  for (int64_t d = rank_ - 1; d >= 0; --d) {
    index[d] = d == 0 ? left : left % sizes_[d];
    left /= sizes_[d];
    for (int k = 0; k < count_; ++k) {
      offsets[k] += index[d] * strides_[k][d];
    }
  }

  for (left = end - begin;;) {
    const int64_t n = std::min(left, row_size() - index[rank_ - 1]);
    visit(offsets, n);
    left -= n;
    if (left == 0) {
      return;
    }
    // Moves to the first element of the next row.
    for (int k = 0; k < count_; ++k) {
      offsets[k] -= index[rank_ - 1] * row_stride(k);
    }
    index[rank_ - 1] = 0;
    for (int64_t d = rank_ - 2;; --d) {
      if (++index[d] < sizes_[d]) {
        for (int k = 0; k < count_; ++k) {
          offsets[k] += strides_[k][d];
        }
        break;
      }
      index[d] = 0;
      for (int k = 0; k < count_; ++k) {
        offsets[k] -= (sizes_[d] - 1) * strides_[k][d];
      }
    }
  }
}

void LoopNest::parallel_for_each_row(int64_t grain, Visit visit) const {
  parallel_for(0, numel_, grain, [&](int64_t begin, int64_t end) { for_each_row(begin, end, visit); });
}

}  // namespace rules_executorch::kernels
