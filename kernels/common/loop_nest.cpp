#include "kernels/common/loop_nest.h"

#include <algorithm>
#include <cstdlib>

namespace rules_executorch::kernels {

LoopNest::LoopNest(const StridedView* operands, int count) : count_(count) {
  const StridedView& first = operands[0];
  for (int k = 0; k < count; ++k) {
    data_[k] = operands[k].data;
  }

  // Dimensions from the outermost in memory to the innermost; equal strides keep their order.
  int64_t order[kTensorDimensionLimit];
  int64_t ordered = 0;
  bool empty = false;
  for (int64_t d = 0; d < first.dim; ++d) {
    empty |= first.sizes[d] == 0;
    if (first.sizes[d] == 1) {
      continue;
    }
    int64_t position = ordered++;
    for (; position > 0 && std::abs(first.strides[order[position - 1]]) < std::abs(first.strides[d]); --position) {
      order[position] = order[position - 1];
    }
    order[position] = d;
  }
  if (empty || ordered == 0) {
    dim_ = 1;
    sizes_[0] = empty ? 0 : 1;
    for (int k = 0; k < count; ++k) {
      // The one element of a row is the same for any stride; this one counts as contiguous.
      strides_[k][0] = operands[k].element_size();
    }
    return;
  }

  for (int64_t i = 0; i < ordered; ++i) {
    const int64_t d = order[i];
    bool merges = dim_ > 0;
    for (int k = 0; k < count && merges; ++k) {
      merges = strides_[k][dim_ - 1] == operands[k].strides[d] * operands[k].element_size() * first.sizes[d];
    }
    if (merges) {
      sizes_[dim_ - 1] *= first.sizes[d];
    } else {
      sizes_[dim_++] = first.sizes[d];
    }
    for (int k = 0; k < count; ++k) {
      strides_[k][dim_ - 1] = operands[k].strides[d] * operands[k].element_size();
    }
  }
}

}  // namespace rules_executorch::kernels
