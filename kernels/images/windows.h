#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/images/pooling.h"

namespace rules_executorch::kernels {

/// The positions from `begin` to `end` (exclusive) of one dimension, `step` apart.
struct Window {
  int64_t begin;
  int64_t end;
  int64_t step = 1;
};

/// The window of output `i` of an adaptive pooling: [floor(i * in_size / out_size), ceil((i + 1) * in_size /
/// out_size)).
inline Window adaptive_window(int64_t i, int64_t in_size, int64_t out_size) {
  return {i * in_size / out_size, ((i + 1) * in_size - 1) / out_size + 1};
}

/// The number of positions by which average pooling divides a sum: those of the windows of each dimension, with the
/// padding (`count_padding`) or without. 0 if a window has no position of the input.
inline int64_t average_count(const PoolingDim* dims, const int64_t* at, int64_t count, bool count_padding) {
  int64_t inside = 1;
  int64_t all = 1;
  for (int64_t d = 0; d < count; ++d) {
    const PoolingDim& dim = dims[d];
    inside *= std::max<int64_t>(0, dim.last(at[d]) - dim.first(at[d]));
    all *= std::min(dim.begin(at[d]) + dim.kernel, dim.in_size + dim.padding) - dim.begin(at[d]);
  }
  return inside > 0 && count_padding ? all : inside;
}

/// The quotient of a sum and a number of positions. The quotient of the smallest integer and -1 wraps around: a
/// division would trap.
template <typename T>
T divided(T sum, int64_t divisor) {
  return divisor == -1 ? static_cast<T>(-sum) : static_cast<T>(sum / divisor);
}

}  // namespace rules_executorch::kernels
