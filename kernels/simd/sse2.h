#pragma once

// The header of SSE2 alone: the compiler reads <immintrin.h> ten times as long.
#include <emmintrin.h>

#include <cstdint>

#include "kernels/simd/byte_range.h"
#include "kernels/simd/vector.h"

namespace rules_executorch::kernels::simd {

using Bytes = __m128i;
using Ints = __m128i;
inline constexpr int64_t kByteLanes = 16;

// Products of bytes are products of shorts: of the even bytes of quads, and of the odd bytes.
#define KERNELS_MULTIPLIES_SHORTS

/// The unsigned bytes 0 and 2 of each quad, or 1 and 3, as 16-bit integers.
KERNELS_ALWAYS_INLINE inline Bytes even_bytes(Bytes x) { return _mm_and_si128(x, _mm_set1_epi16(0xFF)); }
KERNELS_ALWAYS_INLINE inline Bytes odd_bytes(Bytes x) { return _mm_srli_epi16(x, 8); }

/// The same for signed bytes.
KERNELS_ALWAYS_INLINE inline Bytes even_chars(Bytes x) { return _mm_srai_epi16(_mm_slli_epi16(x, 8), 8); }
KERNELS_ALWAYS_INLINE inline Bytes odd_chars(Bytes x) { return _mm_srai_epi16(x, 8); }

/// Adds to each 32-bit sum the products of its two 16-bit integers.
KERNELS_ALWAYS_INLINE inline Ints add_short_products(Ints sums, Bytes x, Bytes weights) {
  sums = _mm_add_epi32(sums, _mm_madd_epi16(x, weights));
  // The compiler must not add products of several steps first, because their sums would leave too few registers.
  asm("" : "+x"(sums));
  return sums;
}

KERNELS_ALWAYS_INLINE inline Ints add_products(Ints sums, Bytes x, Bytes weights) {
  return _mm_add_epi32(sums, _mm_add_epi32(_mm_madd_epi16(even_bytes(x), even_chars(weights)),
                                           _mm_madd_epi16(odd_bytes(x), odd_chars(weights))));
}

KERNELS_ALWAYS_INLINE inline void interleave(const Bytes (&rows)[4], Bytes (&quads)[4]) {
  const __m128i low[] = {_mm_unpacklo_epi8(rows[0], rows[1]), _mm_unpacklo_epi8(rows[2], rows[3])};
  const __m128i high[] = {_mm_unpackhi_epi8(rows[0], rows[1]), _mm_unpackhi_epi8(rows[2], rows[3])};
  quads[0] = _mm_unpacklo_epi16(low[0], low[1]);
  quads[1] = _mm_unpackhi_epi16(low[0], low[1]);
  quads[2] = _mm_unpacklo_epi16(high[0], high[1]);
  quads[3] = _mm_unpackhi_epi16(high[0], high[1]);
}

KERNELS_ALWAYS_INLINE inline Ints rounded(Ints sums, const float* scales, const float* offsets, const ByteRange& to) {
  const __m128 x = _mm_add_ps(_mm_mul_ps(_mm_cvtepi32_ps(sums), _mm_loadu_ps(scales)), _mm_loadu_ps(offsets));
  return _mm_cvtps_epi32(_mm_min_ps(_mm_max_ps(x, _mm_set1_ps(to.min)), _mm_set1_ps(to.max)));
}

KERNELS_ALWAYS_INLINE inline Bytes narrow(const Ints (&x)[4]) {
  const __m128i low = _mm_packs_epi32(x[0], x[1]);
  const __m128i high = _mm_packs_epi32(x[2], x[3]);
  const __m128i bits = _mm_set1_epi16(0xFF);
  return _mm_packus_epi16(_mm_and_si128(low, bits), _mm_and_si128(high, bits));
}

KERNELS_ALWAYS_INLINE inline Bytes in_order(Bytes x) { return x; }

}  // namespace rules_executorch::kernels::simd
