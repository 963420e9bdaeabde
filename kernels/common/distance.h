#pragma once

#include <cstdint>

#include "kernels/common/dtype.h"

namespace rules_executorch::kernels {

/// A row of a matrix: elements `stride` bytes apart.
struct Row {
  ScalarType dtype;
  const char* data;
  int64_t stride;
};

/// The p-norm of the difference of two rows of `n` elements: the count of differences for 0, the largest for infinity.
/// `p` is not negative. Calculates as `T`, float or double.
template <typename T>
T distance(const Row& a, const Row& b, int64_t n, double p);

extern template float distance<float>(const Row& a, const Row& b, int64_t n, double p);
extern template double distance<double>(const Row& a, const Row& b, int64_t n, double p);

}  // namespace rules_executorch::kernels
