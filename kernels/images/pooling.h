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

  /// The first input position of the window of output `i`. Negative if the position is in the padding.
  int64_t begin(int64_t i) const { return i * stride - padding; }

  /// first(): the first position of the window that is not in the padding. last(): the end (exclusive) of the window,
  /// at most the end of the input.
  int64_t first(int64_t i) const {
    const int64_t start = begin(i);
    return start >= 0 ? start : start + (-start + dilation - 1) / dilation * dilation;
  }
  int64_t last(int64_t i) const { return std::min(begin(i) + (kernel - 1) * dilation + 1, in_size); }
};

/// Reads the arguments of a pooling of the last `count` dimensions of `in`. Each argument has one number, or `count`.
/// Returns false if the arguments are invalid.
bool init_pooling(PoolingDim* dims, int64_t count, const Tensor& in, const ArrayRef<int64_t>& kernel,
                  const ArrayRef<int64_t>& stride, const ArrayRef<int64_t>& padding, const ArrayRef<int64_t>& dilation,
                  bool ceil_mode);

/// Resizes `out` to the shape of `in`, with the pooled sizes of the last `count` dimensions.
bool resize_pooled(Tensor& out, const Tensor& in, const PoolingDim* dims, int64_t count);

/// A pooling of the last two dimensions.
struct Pooling {
  PoolingDim h;
  PoolingDim w;

  /// Reads the arguments of a pooling of `in`. Each argument has one or two numbers. Returns false if the arguments are
  /// invalid.
  bool init(const Tensor& in, const ArrayRef<int64_t>& kernel, const ArrayRef<int64_t>& stride,
            const ArrayRef<int64_t>& padding, const ArrayRef<int64_t>& dilation, bool ceil_mode);

  /// Resizes `out` to the shape of `in`, with the pooled height and width.
  bool resize(Tensor& out, const Tensor& in) const;
};

}  // namespace rules_executorch::kernels
