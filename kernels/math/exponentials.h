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

/// e^x = 2^n p, with p = e^r and |r| <= log(2)/2.
struct VectorExpParts {
  Floats p;
  Floats n;
};

KERNELS_ALWAYS_INLINE inline VectorExpParts vector_exp_parts(Floats x) {
  using simd::fma;
  const auto all = [](float value) KERNELS_ALWAYS_INLINE { return simd::broadcast<Floats>(value); };
  const Floats n = fma(x, all(kLog2e), all(kRound)) - kRound;
  const Floats r = fma(n, all(-kLog2Low), fma(n, all(-kLog2High), x));
  Floats p = all(kExpPolynomial[0]);
  p = fma(p, r, all(kExpPolynomial[1]));
  p = fma(p, r, all(kExpPolynomial[2]));
  p = fma(p, r, all(kExpPolynomial[3]));
  p = fma(p, r, all(kExpPolynomial[4]));
  p = fma(p, r, all(1));
  return {fma(p, r, all(1)), n};
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

/// out[i] = exp_of_negative(in[i] * scale - origin) for 0 <= i < n. Adds the results to `sum`. `out` may be `in`.
/// Prefetches the `n` elements after `in` and after `out`, which are often the next row.
inline void exp_of_negative(int64_t n, float* out, const float* in, float scale, float origin,
                            LaneReduction<float>& sum) {
  using internal::kFloats;
  constexpr int kVectors = LaneReduction<float>::kLanes / kFloats;
  const auto factor = simd::broadcast<internal::Floats>(scale);
  const auto shift = simd::broadcast<internal::Floats>(-origin);
  internal::Floats totals[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    totals[v] = simd::load(sum.lanes() + v * kFloats);
  }
  int64_t i = 0;
  for (; i + kVectors * kFloats <= n; i += kVectors * kFloats) {
    simd::prefetch(in + n + i);
    simd::prefetch(in + n + i + 16);
    simd::prefetch_to_write(out + n + i);
    simd::prefetch_to_write(out + n + i + 16);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const internal::Floats x = simd::load(in + i + v * kFloats);
      const internal::Floats result = internal::vector_exp_of_negative(simd::fma(x, factor, shift));
      totals[v] += result;
      simd::store(out + i + v * kFloats, result);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v, i += kFloats) {
    if (i < n) {
      const internal::Floats x = simd::load_first(in + i, n - i);
      const internal::Floats result = internal::vector_exp_of_negative(simd::fma(x, factor, shift));
      totals[v] += simd::keep_first(result, n - i);
      simd::store_first(out + i, result, n - i);
    }
    simd::store(sum.lanes() + v * kFloats, totals[v]);
  }
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

}  // namespace rules_executorch::kernels::math
