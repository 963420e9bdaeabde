#include "kernels/tensors/resize.h"

#include <algorithm>
#include <limits>

namespace rules_executorch::kernels {

bool resize_to_size(Tensor& out, const ArrayRef<int64_t>& size) {
  constexpr size_t kMaxRank = ::executorch::runtime::kTensorDimensionLimit;
  ET_CHECK_OR_RETURN_FALSE(size.size() <= kMaxRank, "too many dimensions: %zu", size.size());
  Tensor::SizesType sizes[kMaxRank];
  for (size_t d = 0; d < size.size(); ++d) {
    ET_CHECK_OR_RETURN_FALSE(size[d] >= 0 && size[d] <= std::numeric_limits<Tensor::SizesType>::max(),
                             "dimension %zu cannot have size %lld", d, static_cast<long long>(size[d]));
    sizes[d] = static_cast<Tensor::SizesType>(size[d]);
  }
  return resize_to(out, {sizes, size.size()});
}

bool resize_to_broadcast_of(Tensor& out, const Tensor* const* inputs, int count) {
  Tensor::SizesType sizes[::executorch::runtime::kTensorDimensionLimit];
  int64_t rank = 0;
  for (int k = 0; k < count; ++k) {
    rank = std::max<int64_t>(rank, inputs[k]->dim());
  }
  std::fill_n(sizes, rank, 1);
  for (int k = 0; k < count; ++k) {
    const auto input_sizes = inputs[k]->sizes();
    Tensor::SizesType* aligned = sizes + (rank - static_cast<int64_t>(input_sizes.size()));
    for (size_t d = 0; d < input_sizes.size(); ++d) {
      if (aligned[d] == 1) {
        aligned[d] = input_sizes[d];
      }
      ET_CHECK_OR_RETURN_FALSE(input_sizes[d] == 1 || input_sizes[d] == aligned[d],
                               "inputs do not broadcast: sizes %d and %d in the same dimension", int(aligned[d]),
                               int(input_sizes[d]));
    }
  }
  return resize_to(out, {sizes, static_cast<size_t>(rank)});
}

}  // namespace rules_executorch::kernels
