#pragma once

#include "kernels/common/vector_math.h"
#include "kernels/common/vectorize.h"

namespace rules_executorch::kernels::math {

/// `x` times the probability that a normal variable is less than `x`. T is float or double.
template <typename T>
KERNELS_ALWAYS_INLINE inline T gelu(T x) {
  constexpr T kSqrtHalf = static_cast<T>(0.707106781186547524401);
  return x * T(0.5) * (1 + erf(x * kSqrtHalf));
}

/// An approximation of `gelu`, which PyTorch calls "tanh".
template <typename T>
KERNELS_ALWAYS_INLINE inline T gelu_tanh(T x) {
  constexpr T kSqrtTwoOverPi = static_cast<T>(0.797884560802865355880);
  constexpr T kCubic = static_cast<T>(0.044715);
  return T(0.5) * x * (1 + tanh(kSqrtTwoOverPi * (x + kCubic * x * x * x)));
}

}  // namespace rules_executorch::kernels::math
