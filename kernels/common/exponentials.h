#pragma once

#include <cstdint>

#include "kernels/common/vector_math.h"
#include "kernels/common/vectorize.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/// Exponentials of arrays. AVX-512 scales by a power of two in one instruction, which compilers do not choose for the
/// functions of vector_math.h.
namespace rules_executorch::kernels::math {

/// `x` times the logistic function of it, x / (1 + e^-x). T is float or double. Of floats, 0 where e^-x is infinite.
constexpr double kSiluUlp = 2.5;
template <typename T>
KERNELS_ALWAYS_INLINE inline T silu(T x) {
  return x / (1 + exp(-x));
}

#if defined(__AVX512F__)

namespace internal {

// With masks wherever there is a choice: GCC warns that the others read what is not initialized.
inline constexpr __mmask16 kAllLanes = 0xFFFF;

/// Lanes of the first `n` elements.
inline __mmask16 first_lanes(int64_t n) { return n >= 16 ? kAllLanes : static_cast<__mmask16>((1 << n) - 1); }

/// e^x where `mask` says so, 0 elsewhere, for -104 <= x <= 89 or NaN: 2^n e^r, where |r| <= log(2)/2.
KERNELS_ALWAYS_INLINE inline __m512 vector_exp_of_bounded(__mmask16 mask, __m512 x) {
  const __m512 round = _mm512_set1_ps(kRound);
  const __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(x, _mm512_set1_ps(kLog2e), round), round);
  const __m512 rest = _mm512_fnmadd_ps(n, _mm512_set1_ps(kLog2High), x);
  const __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(kLog2Low), rest);
  const __m512 one = _mm512_set1_ps(1);
  __m512 p = _mm512_set1_ps(kExpPolynomial[0]);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(kExpPolynomial[1]));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(kExpPolynomial[2]));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(kExpPolynomial[3]));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(kExpPolynomial[4]));
  p = _mm512_fmadd_ps(p, r, one);
  p = _mm512_fmadd_ps(p, r, one);
  return _mm512_maskz_scalef_ps(mask, p, n);
}

KERNELS_ALWAYS_INLINE inline __m512 vector_exp(__m512 x) {
  // Where one is NaN, the second operand is the result.
  const __m512 below = _mm512_maskz_min_ps(kAllLanes, _mm512_set1_ps(89), x);
  return vector_exp_of_bounded(kAllLanes, _mm512_maskz_max_ps(kAllLanes, _mm512_set1_ps(-104), below));
}

KERNELS_ALWAYS_INLINE inline __m512 vector_exp_of_negative(__m512 x) {
  return vector_exp_of_bounded(_mm512_cmp_ps_mask(x, _mm512_set1_ps(kLeastNormalExp), _CMP_NLT_UQ), x);
}

/// out[i] = function(in[i]) for 0 <= i < n, where `function` takes and returns vectors. `out` may be `in`.
template <typename Function>
KERNELS_ALWAYS_INLINE inline void for_each_vector(int64_t n, float* out, const float* in, const Function& function) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    _mm512_storeu_ps(out + i, function(_mm512_loadu_ps(in + i)));
  }
  if (i < n) {
    const __mmask16 mask = first_lanes(n - i);
    _mm512_mask_storeu_ps(out + i, mask, function(_mm512_maskz_loadu_ps(mask, in + i)));
  }
}

}  // namespace internal

/// out[i] = exp(in[i]) for 0 <= i < n. `out` may be `in`.
inline void exp(int64_t n, float* out, const float* in) {
  internal::for_each_vector(n, out, in, [](__m512 x) KERNELS_ALWAYS_INLINE { return internal::vector_exp(x); });
}

/// out[i] = silu(in[i]) for 0 <= i < n. `out` may be `in`.
inline void silu(int64_t n, float* out, const float* in) {
  internal::for_each_vector(n, out, in, [](__m512 x) KERNELS_ALWAYS_INLINE {
    const __m512 e = internal::vector_exp(_mm512_sub_ps(_mm512_setzero_ps(), x));
    return _mm512_div_ps(x, _mm512_add_ps(_mm512_set1_ps(1), e));
  });
}

/// out[i] = exp_of_negative(in[i] * scale - origin) for 0 <= i < n, which `sum` adds up. `out` may be `in`. What
/// follows the input in memory, often the next line, is fetched on the way.
inline void exp_of_negative(int64_t n, float* out, const float* in, float scale, float origin,
                            LaneReduction<float>& sum) {
  static_assert(LaneReduction<float>::kLanes == 32, "two vectors");
  const __m512 factor = _mm512_set1_ps(scale);
  const __m512 shift = _mm512_set1_ps(origin);
  __m512 even = _mm512_loadu_ps(sum.lanes());
  __m512 odd = _mm512_loadu_ps(sum.lanes() + 16);
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    _mm_prefetch(reinterpret_cast<const char*>(in + n + i), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(in + n + i + 16), _MM_HINT_T0);
    const __m512 first = internal::vector_exp_of_negative(_mm512_fmsub_ps(_mm512_loadu_ps(in + i), factor, shift));
    const __m512 second =
        internal::vector_exp_of_negative(_mm512_fmsub_ps(_mm512_loadu_ps(in + i + 16), factor, shift));
    even = _mm512_add_ps(even, first);
    odd = _mm512_add_ps(odd, second);
    _mm512_storeu_ps(out + i, first);
    _mm512_storeu_ps(out + i + 16, second);
  }
  const auto add_part = [&](int64_t start, __m512& total) KERNELS_ALWAYS_INLINE {
    const __mmask16 mask = internal::first_lanes(n - start);
    const __m512 x = _mm512_maskz_loadu_ps(mask, in + start);
    const __m512 result = internal::vector_exp_of_negative(_mm512_fmsub_ps(x, factor, shift));
    total = _mm512_mask_add_ps(total, mask, total, result);
    _mm512_mask_storeu_ps(out + start, mask, result);
  };
  if (i < n) {
    add_part(i, even);
  }
  if (i + 16 < n) {
    add_part(i + 16, odd);
  }
  _mm512_storeu_ps(sum.lanes(), even);
  _mm512_storeu_ps(sum.lanes() + 16, odd);
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
