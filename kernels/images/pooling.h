#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// One spatial dimension of a pooling.
struct PoolingDim {
  int64_t in_size;
  int64_t kernel;
  int64_t stride;
  int64_t padding;
  int64_t dilation;
  int64_t out_size;

  /// The first input position of the window of output `i`; in the padding where negative.
  int64_t begin(int64_t i) const { return i * stride - padding; }

  /// Its first position that is not in the padding, and the end of the window and of the input.
  int64_t first(int64_t i) const {
    const int64_t start = begin(i);
    return start >= 0 ? start : start + (-start + dilation - 1) / dilation * dilation;
  }
  int64_t last(int64_t i) const { return std::min(begin(i) + (kernel - 1) * dilation + 1, in_size); }
};

/// A pooling of the last two dimensions.
struct Pooling {
  PoolingDim h;
  PoolingDim w;

  /// Reads the arguments of a pooling of `in`, each of one or two numbers. False where there is no such pooling.
  bool init(const Tensor& in, const ArrayRef<int64_t>& kernel, const ArrayRef<int64_t>& stride,
            const ArrayRef<int64_t>& padding, const ArrayRef<int64_t>& dilation, bool ceil_mode);

  /// Resizes `out` to in's shape with the sizes of the pooling.
  bool resize(Tensor& out, const Tensor& in) const;
};

}  // namespace rules_executorch::kernels
