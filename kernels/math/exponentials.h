#pragma once

#include <cstdint>

#include "kernels/math/polynomials.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/simd/simd.h"

/// Exponentials of arrays, with vectors of kernels/simd. Compilers translate the functions of vector_math.h to more
/// instructions: comparisons and selections instead of minima and maxima, and no instructions that scale by a power of
/// two.
namespace rules_executorch::kernels::math {

/// SiLU: `x` times the logistic function, x / (1 + e^-x). T is float or double. For floats, the result is 0 if e^-x
/// overflows.
constexpr double kSiluUlp = 2.5;
template <typename T>
KERNELS_ALWAYS_INLINE inline T silu(T x) {
  return x / (1 + exp(-x));
}

#if defined(KERNELS_HAVE_FMA)

namespace internal {

using Floats = simd::Vector<float>;
inline constexpr int64_t kFloats = simd::kLanes<float>;

/// e^x / 2^floor(n), where n is the exponent: x / log(2), rounded.
KERNELS_ALWAYS_INLINE inline Floats vector_exp_fraction(Floats x, const simd::Exponent& exponent) {
  using simd::fma;
  const auto all = [](float value) KERNELS_ALWAYS_INLINE { return simd::broadcast<Floats>(value); };
  const Floats r = fma(exponent.n, all(-kLog2Low), fma(exponent.n, all(-kLog2High), x));
#if defined(KERNELS_HAVE_FLOAT_TABLES)
  // n is a multiple of 1/16, so that the result is 2^(n - floor(n)) e^r with |r| <= log(2)/32. An instruction looks up
  // the power of two, and a shorter polynomial suffices. (Tang, Table-Driven Implementation of the Exponential Function
  // in IEEE Floating-Point Arithmetic, 1989)
  Floats rest = all(kShortExpPolynomial[0]);
  rest = fma(rest, r, all(kShortExpPolynomial[1]));
  rest = fma(rest, r, all(kShortExpPolynomial[2]));
  const Floats power = simd::look_up(kExp2Table, exponent.shifted);
  return fma(rest * r, power, power);
#else
  // n is an integer, so that the result is e^r with |r| <= log(2)/2.
  Floats p = all(kExpPolynomial[0]);
  p = fma(p, r, all(kExpPolynomial[1]));
  p = fma(p, r, all(kExpPolynomial[2]));
  p = fma(p, r, all(kExpPolynomial[3]));
  p = fma(p, r, all(kExpPolynomial[4]));
  p = fma(p, r, all(1));
  return fma(p, r, all(1));
#endif
}

KERNELS_ALWAYS_INLINE inline Floats vector_exp(Floats x) {
  // Results are 0 at the lower bound and infinity at the upper bound.
  x = simd::clamp(x, -104, 89);
  const simd::Exponent exponent = simd::rounded_exponent(x, kLog2e);
  return simd::scale_by_exponent(vector_exp_fraction(x, exponent), exponent);
}

KERNELS_ALWAYS_INLINE inline Floats vector_exp_of_negative(Floats x) {
  const simd::Exponent exponent = simd::rounded_exponent(x, kLog2e);
  return simd::scale_by_exponent_unless_less(vector_exp_fraction(x, exponent), exponent, x,
                                             simd::broadcast<Floats>(kLeastNormalExp));
}

/// out[i] = function(in[i]) for 0 <= i < n, where `function` takes and returns vectors. `out` may be `in`.
template <typename Function>
KERNELS_ALWAYS_INLINE inline void for_each_vector(int64_t n, float* out, const float* in, const Function& function) {
  int64_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    simd::store(out + i, function(simd::load(in + i)));
  }
  if (i < n) {
    simd::store_first(out + i, function(simd::load_first(in + i, n - i)), n - i);
  }
}

/// out[i] = exp_of_negative(argument(in[i])) for 0 <= i < n. Adds the results to `sum`.
template <typename Argument>
KERNELS_ALWAYS_INLINE inline void sum_exponentials(int64_t n, float* out, const float* in, const Argument& argument,
                                                   LaneReduction<float>& sum) {
  // One total, because more totals and the constants do not fit into 16 registers. The total of a call starts at 0: the
  // blocks of a long line are summed separately, which keeps rounding errors small.
  Floats total{};
  int64_t i = 0;
  for (; i + 2 * kFloats <= n; i += 2 * kFloats) {
    const Floats first = vector_exp_of_negative(argument(simd::load(in + i)));
    const Floats second = vector_exp_of_negative(argument(simd::load(in + i + kFloats)));
    simd::store(out + i, first);
    simd::store(out + i + kFloats, second);
    total += first + second;
  }
  for (; i < n; i += kFloats) {
    const Floats result = vector_exp_of_negative(argument(simd::load_first(in + i, n - i)));
    simd::store_first(out + i, result, n - i);
    total += simd::keep_first(result, n - i);
  }
  simd::store(sum.lanes(), simd::load(sum.lanes()) + total);
}

}  // namespace internal

/// out[i] = exp(in[i]) for 0 <= i < n. `out` may be `in`.
inline void exp(int64_t n, float* out, const float* in) {
  internal::for_each_vector(n, out, in,
                            [](internal::Floats x) KERNELS_ALWAYS_INLINE { return internal::vector_exp(x); });
}

/// out[i] = silu(in[i]) for 0 <= i < n. `out` may be `in`.
inline void silu(int64_t n, float* out, const float* in) {
  internal::for_each_vector(n, out, in, [](internal::Floats x) KERNELS_ALWAYS_INLINE {
    return x / (1 + internal::vector_exp(internal::Floats{} - x));
  });
}

/// out[i] = exp_of_negative(in[i] - origin) for 0 <= i < n. Adds the results to `sum`. `out` may be `in`.
inline void exp_of_negative(int64_t n, float* out, const float* in, float origin, LaneReduction<float>& sum) {
  const auto shift = simd::broadcast<internal::Floats>(origin);
  internal::sum_exponentials(n, out, in, [=](internal::Floats x) KERNELS_ALWAYS_INLINE { return x - shift; }, sum);
}

/// The same function of in[i] * scale - origin.
inline void exp_of_negative(int64_t n, float* out, const float* in, float scale, float origin,
                            LaneReduction<float>& sum) {
  const auto factor = simd::broadcast<internal::Floats>(scale);
  const auto shift = simd::broadcast<internal::Floats>(-origin);
  internal::sum_exponentials(
      n, out, in, [=](internal::Floats x) KERNELS_ALWAYS_INLINE { return simd::fma(x, factor, shift); }, sum);
}

#endif

template <typename T>
void exp(int64_t n, T* out, const T* in) {
  wide_vectorized_for(n, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[i] = exp(in[i]); });
}

template <typename T>
void silu(int64_t n, T* out, const T* in) {
  wide_vectorized_for(n, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[i] = silu(in[i]); });
}

template <typename T>
void exp_of_negative(int64_t n, T* out, const T* in, T scale, T origin, LaneReduction<T>& sum) {
  wide_vectorized_for(n, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[i] = exp_of_negative(in[i] * scale - origin); });
  sum.add(n, out, [](T a, T b) { return a + b; });
}

template <typename T>
void exp_of_negative(int64_t n, T* out, const T* in, T origin, LaneReduction<T>& sum) {
  exp_of_negative(n, out, in, T(1), origin, sum);
}

}  // namespace rules_executorch::kernels::math
