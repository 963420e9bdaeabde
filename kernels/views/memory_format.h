#pragma once

#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Whether a tensor of `rank` dimensions can have the memory format `format`. All tensors can have the default format.
/// The format of a result is determined by the dim order of its tensor.
inline bool memory_format_exists(const std::optional<MemoryFormat>& format, int64_t rank) {
  if (!format.has_value()) {
    return true;
  }
  // The numbers of PyTorch's enumeration. ExecuTorch's enumeration has only the first two.
  switch (static_cast<int>(*format)) {
    case 0:  // contiguous
    case 1:  // preserve
      return true;
    case 2:  // channels last
      return rank == 4;
    case 3:  // channels last, with three spatial dimensions
      return rank == 5;
    default:
      return false;
  }
}

/// Whether the elements of a tensor follow each other in a dim order: `dim_at(i)` is the i-th dimension from the
/// innermost one. Dimensions of size 1 may be anywhere in the order. A tensor without elements has all orders.
template <typename Function>
bool is_dense(const Tensor& tensor, const Function& dim_at) {
  const ConstStridedView view(tensor);
  int64_t stride = 1;
  for (int64_t i = 0; i < view.rank; ++i) {
    const int64_t d = dim_at(i);
    if (view.sizes[d] != 1 && view.strides[d] != stride) {
      return view.numel() == 0;
    }
    stride *= view.sizes[d];
  }
  return true;
}

/// Whether a tensor is contiguous: `is_dense` in the order of its dimensions.
inline bool is_contiguous(const Tensor& tensor) {
  const int64_t last = tensor.dim() - 1;
  return is_dense(tensor, [=](int64_t i) { return last - i; });
}

/// Whether a tensor has 4 or 5 dimensions and is `is_dense` in channels-last order.
inline bool is_channels_last(const Tensor& tensor) {
  const int64_t rank = tensor.dim();
  return (rank == 4 || rank == 5) && is_dense(tensor, [=](int64_t i) {
           return i == 0 ? 1 : i == rank - 1 ? 0 : rank - i;
         });
}

/// Whether the elements of two tensors of the same sizes have the same order in memory. False for other sizes.
inline bool have_same_dim_order(const Tensor& a, const Tensor& b) {
  const ConstStridedView views[] = {ConstStridedView(a), ConstStridedView(b)};
  if (views[0].rank != views[1].rank) {
    return false;
  }
  bool is_same = true;
  for (int64_t d = 0; d < views[0].rank; ++d) {
    if (views[0].sizes[d] != views[1].sizes[d]) {
      return false;
    }
    is_same = is_same && (views[0].sizes[d] == 1 || views[0].strides[d] == views[1].strides[d]);
  }
  return is_same || views[0].numel() == 0;
}

}  // namespace rules_executorch::kernels
