#pragma once

#include <cstdint>

#include "kernels/images/windows.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// An adaptive pooling of the last dimensions of a tensor.
struct AdaptivePooling {
  // Depth, height and width; missing dimensions have the size 1.
  int64_t in_size[3];
  int64_t out_size[3];

  /// Reads the sizes of the last `count` dimensions of the result. Returns false if the arguments are invalid.
  bool init(const Tensor& in, const ArrayRef<int64_t>& output_size, int64_t count);

  /// Resizes `out` to the shape of `in`, with the sizes of the result.
  bool resize(Tensor& out, const Tensor& in, int64_t count) const;

  Window window(int64_t d, int64_t i) const { return adaptive_window(i, in_size[d], out_size[d]); }

  /// The approximate number of positions of a window.
  int64_t work() const;
};

}  // namespace rules_executorch::kernels
