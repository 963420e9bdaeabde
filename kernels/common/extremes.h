#pragma once

namespace rules_executorch::kernels {

/// The larger and the smaller of two values; NaN where one of them is.
template <typename T>
inline T larger(T x, T y) {
  return x != x || x > y ? x : y;
}
template <typename T>
inline T smaller(T x, T y) {
  return x != x || x < y ? x : y;
}

}  // namespace rules_executorch::kernels
