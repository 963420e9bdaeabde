#pragma once

#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Whether a tensor of `rank` dimensions can have the memory format `format`; any tensor the default one. Which one a
/// result has is settled by the dim order that its tensor was given.
inline bool memory_format_exists(const std::optional<MemoryFormat>& format, int64_t rank) {
  if (!format.has_value()) {
    return true;
  }
  // PyTorch's numbers; ExecuTorch's enumeration names the first two of them.
  switch (static_cast<int>(*format)) {
    case 0:  // contiguous
    case 1:  // as the input
      return true;
    case 2:  // channels last
      return rank == 4;
    case 3:  // channels last, with three spatial dimensions
      return rank == 5;
    default:
      return false;
  }
}

/// Whether, of a tensor of 4 dimensions, the channels of a pixel are neighbors, and so are pixels and rows.
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
