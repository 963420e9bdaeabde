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

/// e^x = 2^floor(n) p.
struct VectorExpParts {
  Floats p;
  Floats n;
};

KERNELS_ALWAYS_INLINE inline VectorExpParts vector_exp_parts(Floats x) {
  using simd::fma;
  const auto all = [](float value) KERNELS_ALWAYS_INLINE { return simd::broadcast<Floats>(value); };
#if defined(KERNELS_HAVE_FLOAT_TABLES)
  // n is the nearest multiple of 1/16, and p = 2^(n - floor(n)) e^r with |r| <= log(2)/32. An instruction looks up the
  // power of two by the lowest bits of `shifted`, so that a shorter polynomial suffices. (Tang, Table-Driven
  // Implementation of the Exponential Function in IEEE Floating-Point Arithmetic, 1989)
  constexpr float kRoundToSixteenths = kRound / 16;
  const Floats shifted = fma(x, all(kLog2e), all(kRoundToSixteenths));
  const Floats n = shifted - kRoundToSixteenths;
#else
  // n is the nearest integer, and p = e^r with |r| <= log(2)/2.
  const Floats n = fma(x, all(kLog2e), all(kRound)) - kRound;
#endif
  const Floats r = fma(n, all(-kLog2Low), fma(n, all(-kLog2High), x));
#if defined(KERNELS_HAVE_FLOAT_TABLES)
  Floats rest = all(kShortExpPolynomial[0]);
  rest = fma(rest, r, all(kShortExpPolynomial[1]));
  rest = fma(rest, r, all(kShortExpPolynomial[2]));
  const Floats power = simd::look_up(kExp2Table, shifted);
  return {fma(rest * r, power, power), n};
#else
  Floats p = all(kExpPolynomial[0]);
  p = fma(p, r, all(kExpPolynomial[1]));
  p = fma(p, r, all(kExpPolynomial[2]));
  p = fma(p, r, all(kExpPolynomial[3]));
  p = fma(p, r, all(kExpPolynomial[4]));
  p = fma(p, r, all(1));
  return {fma(p, r, all(1)), n};
#endif
}

KERNELS_ALWAYS_INLINE inline Floats vector_exp(Floats x) {
  // Results are 0 at the lower bound and infinity at the upper bound.
  const VectorExpParts parts = vector_exp_parts(simd::clamp(x, -104, 89));
  return simd::scale_by_exponent(parts.p, parts.n);
}

KERNELS_ALWAYS_INLINE inline Floats vector_exp_of_negative(Floats x) {
  const VectorExpParts parts = vector_exp_parts(x);
  return simd::scale_by_exponent_unless_less(parts.p, parts.n, x, simd::broadcast<Floats>(kLeastNormalExp));
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
  constexpr int kVectors = LaneReduction<float>::kLanes / kFloats;
  Floats totals[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    totals[v] = simd::load(sum.lanes() + v * kFloats);
  }
  int64_t i = 0;
  for (; i + kVectors * kFloats <= n; i += kVectors * kFloats) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const Floats result = vector_exp_of_negative(argument(simd::load(in + i + v * kFloats)));
      totals[v] += result;
      simd::store(out + i + v * kFloats, result);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v, i += kFloats) {
    if (i < n) {
      const Floats result = vector_exp_of_negative(argument(simd::load_first(in + i, n - i)));
      totals[v] += simd::keep_first(result, n - i);
      simd::store_first(out + i, result, n - i);
    }
    simd::store(sum.lanes() + v * kFloats, totals[v]);
  }
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
