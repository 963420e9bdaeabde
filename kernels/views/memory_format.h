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

/// Whether a 4-dim tensor is contiguous in channels-last order.
inline bool is_channels_last(const Tensor& tensor) {
  const ConstStridedView view(tensor);
  int64_t stride = 1;
  for (const int d : {1, 3, 2, 0}) {
    if (tensor.size(d) != 1 && view.strides[d] != stride) {
      return false;
    }
    stride *= tensor.size(d);
  }
  return true;
}

}  // namespace rules_executorch::kernels
