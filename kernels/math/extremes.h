#pragma once

namespace rules_executorch::kernels {

/// The larger and the smaller of two values, or NaN if a value is NaN. Compilers vectorize the two selections.
template <typename T>
inline T larger(T x, T y) {
  const T number = x > y ? x : y;
  return x != x ? x : number;
}
template <typename T>
inline T smaller(T x, T y) {
  const T number = x < y ? x : y;
  return x != x ? x : number;
}

}  // namespace rules_executorch::kernels
