#pragma once

#include <cstdint>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The smallest and the largest of several values. Both are NaN if a value is NaN.
template <typename T>
struct MinMax {
  T min;
  T max;
};

/// The smallest and the largest of `n` elements of dtype `type`, `stride` bytes apart. `n` must be at least 1. `T` is
/// float or double.
template <typename T>
MinMax<T> min_max(ScalarType type, const char* data, int64_t stride, int64_t n);

}  // namespace rules_executorch::kernels
