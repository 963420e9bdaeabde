#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/math/exponentials.h"
#include "kernels/math/polynomials.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/simd/simd.h"

namespace rules_executorch::kernels::math {

/// `x` times the probability that a normal variable is less than `x`. The error of `gelu` and of `gelu_tanh` is at most
/// kGeluError times |x|.
constexpr double kGeluError = 0x1p-23;
KERNELS_ALWAYS_INLINE inline float gelu(float x) {
  using namespace internal;
  const float magnitude = abs(x);
  // For |x| >= 7, the probability of the tail is less than the error bound.
  const bool is_bounded = magnitude < 7;
  const float bounded = is_bounded ? magnitude : 7;
  // The logarithm to base 2 of erfc(magnitude / sqrt(2)).
  const float q = bounded * polynomial(kLog2TailsPolynomial, bounded);
  const float shifted = q + kRound;
  const float r = q - (shifted - kRound);
  const float p = 1 + r * polynomial(kExp2Polynomial, r);
  const float tails = p * power_of_two(to_bits(shifted) - to_bits(kRound));
  const float both = is_bounded ? tails : 0;
  return x * 0.5f * (x < 0 ? both : 2 - both);
}
inline double gelu(double x) { return x * 0.5 * (1 + std::erf(x * 0.707106781186547524401)); }

/// The approximation of `gelu` that PyTorch calls "tanh": x (1 + tanh(u)) / 2 = x / (1 + e^-2u).
KERNELS_ALWAYS_INLINE inline float gelu_tanh(float x) {
  constexpr float kLinear = -0x1.988454p+0f;  // -2 sqrt(2/pi)
  constexpr float kCubic = kLinear * 0.044715f;
  return x / (1 + exp(x * (kLinear + kCubic * x * x)));
}
inline double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(0.797884560802865355880 * (x + 0.044715 * x * x * x)));
}

#if defined(KERNELS_HAVE_FLOAT_TABLES)

namespace internal {

/// `gelu` or `gelu_tanh` of x. `table` has the factor of a negative x. A vector register holds a row of the table, so
/// that one instruction looks up the coefficients of 16 elements.
KERNELS_ALWAYS_INLINE inline Floats vector_gelu(const float (&table)[6][16], Floats x) {
  const auto all = [](float value) KERNELS_ALWAYS_INLINE { return simd::broadcast<Floats>(value); };
  const Floats bounded = simd::min(simd::abs(x), all(15 * kGeluInterval));
  const Floats shifted = simd::fma(bounded, all(1 / kGeluInterval), all(kRound));
  const Floats n = shifted - kRound;
  const Floats r = simd::fma(n, all(-kGeluInterval), bounded);
  Floats p = simd::look_up(table[0], shifted);
#pragma GCC unroll 5
  for (int i = 1; i < 6; ++i) {
    p = simd::fma(p, r, simd::look_up(table[i], shifted));
  }
  return x * simd::one_less_unless_negative(p, x);
}

}  // namespace internal

/// out[i] = gelu(in[i]) for 0 <= i < n. `out` may be `in`.
inline void gelu(int64_t n, float* out, const float* in) {
  internal::for_each_vector(n, out, in, [](internal::Floats x) KERNELS_ALWAYS_INLINE {
    return internal::vector_gelu(internal::kGeluTails, x);
  });
}

/// out[i] = gelu_tanh(in[i]) for 0 <= i < n. `out` may be `in`.
inline void gelu_tanh(int64_t n, float* out, const float* in) {
  internal::for_each_vector(n, out, in, [](internal::Floats x) KERNELS_ALWAYS_INLINE {
    return internal::vector_gelu(internal::kGeluTanhTails, x);
  });
}

#endif

template <typename T>
void gelu(int64_t n, T* out, const T* in) {
  wide_vectorized_for(n, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[i] = gelu(in[i]); });
}

template <typename T>
void gelu_tanh(int64_t n, T* out, const T* in) {
  wide_vectorized_for(n, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[i] = gelu_tanh(in[i]); });
}

}  // namespace rules_executorch::kernels::math
