#pragma once

#include <cstdint>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The smallest and the largest of some values; both NaN where one of them is.
template <typename T>
struct MinMax {
  T min;
  T max;
};

/// Of `n` elements of dtype `type`, at least one, `stride` bytes apart; `T` is float or double.
template <typename T>
MinMax<T> min_max(ScalarType type, const char* data, int64_t stride, int64_t n);

}  // namespace rules_executorch::kernels
