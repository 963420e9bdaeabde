#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/simd/byte_range.h"
#include "kernels/simd/vector.h"

namespace rules_executorch::kernels::simd {

using Bytes = __m256i;
using Ints = __m256i;
inline constexpr int64_t kByteLanes = 32;

inline constexpr int kMostParts = 2;

KERNELS_ALWAYS_INLINE inline Bytes load_parts(const uint8_t* const (&from)[1]) { return load_as<Bytes>(from[0]); }

KERNELS_ALWAYS_INLINE inline Bytes load_parts(const uint8_t* const (&from)[2]) {
  const auto load = [](const uint8_t* p)
                        KERNELS_ALWAYS_INLINE { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load(from[0])), load(from[1]), 1);
}

KERNELS_ALWAYS_INLINE inline void store_parts(void* const (&to)[1], Bytes bytes) { store(to[0], bytes); }

KERNELS_ALWAYS_INLINE inline void store_parts(void* const (&to)[2], Bytes bytes) {
  _mm_storeu_si128(static_cast<__m128i*>(to[0]), _mm256_castsi256_si128(bytes));
  _mm_storeu_si128(static_cast<__m128i*>(to[1]), _mm256_extracti128_si256(bytes, 1));
}

// Products of bytes are products of shorts: of the even bytes of quads, and of the odd bytes.
#define KERNELS_MULTIPLIES_SHORTS

/// The unsigned bytes 0 and 2 of each quad, or 1 and 3, as 16-bit integers.
KERNELS_ALWAYS_INLINE inline Bytes even_bytes(Bytes x) { return _mm256_and_si256(x, _mm256_set1_epi16(0xFF)); }
KERNELS_ALWAYS_INLINE inline Bytes odd_bytes(Bytes x) { return _mm256_srli_epi16(x, 8); }

/// The same for signed bytes.
KERNELS_ALWAYS_INLINE inline Bytes even_chars(Bytes x) { return _mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8); }
KERNELS_ALWAYS_INLINE inline Bytes odd_chars(Bytes x) { return _mm256_srai_epi16(x, 8); }

/// Adds to each 32-bit sum the products of its two 16-bit integers.
KERNELS_ALWAYS_INLINE inline Ints add_short_products(Ints sums, Bytes x, Bytes weights) {
  sums = _mm256_add_epi32(sums, _mm256_madd_epi16(x, weights));
  // The compiler must not add products of several steps first, because their sums would leave too few registers.
  asm("" : "+x"(sums));
  return sums;
}

KERNELS_ALWAYS_INLINE inline Ints add_products(Ints sums, Bytes x, Bytes weights) {
  return _mm256_add_epi32(sums, _mm256_add_epi32(_mm256_madd_epi16(even_bytes(x), even_chars(weights)),
                                                 _mm256_madd_epi16(odd_bytes(x), odd_chars(weights))));
}

#define KERNELS_SPLITS_NIBBLES
inline constexpr int kNibbleFactor = 1;

/// The signed 4-bit integers in the lower nibbles of bytes.
KERNELS_ALWAYS_INLINE inline Bytes lower_nibbles(Bytes x) {
  const __m256i integers =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1));
  return _mm256_shuffle_epi8(integers, _mm256_and_si256(x, _mm256_set1_epi8(0x0F)));
}

/// The same for the higher nibbles.
KERNELS_ALWAYS_INLINE inline Bytes higher_nibbles(Bytes x) { return lower_nibbles(_mm256_srli_epi16(x, 4)); }

// Sums of products of weights of 4 bits: a pair of products is at most 2 * 255 * 8, so that 16 bits hold eight pairs.
#define KERNELS_ADDS_NIBBLES_IN_SHORTS
using Shorts = __m256i;
/// The elements of a column whose products 16-bit sums hold.
inline constexpr int64_t kShortsDepth = 32;

/// Adds to each 16-bit sum the products of two bytes. The bytes of `x` are unsigned, the bytes of `weights` are signed.
KERNELS_ALWAYS_INLINE inline Shorts add_to_shorts(Shorts sums, Bytes x, Bytes weights) {
  return _mm256_add_epi16(sums, _mm256_maddubs_epi16(x, weights));
}

/// Adds to each 32-bit sum two 16-bit sums.
KERNELS_ALWAYS_INLINE inline Ints add_shorts(Ints totals, Shorts sums) {
  return _mm256_add_epi32(totals, _mm256_madd_epi16(sums, _mm256_set1_epi16(1)));
}

KERNELS_ALWAYS_INLINE inline void interleave(const Bytes (&rows)[4], Bytes (&quads)[4]) {
  const __m256i low[] = {_mm256_unpacklo_epi8(rows[0], rows[1]), _mm256_unpacklo_epi8(rows[2], rows[3])};
  const __m256i high[] = {_mm256_unpackhi_epi8(rows[0], rows[1]), _mm256_unpackhi_epi8(rows[2], rows[3])};
  quads[0] = _mm256_unpacklo_epi16(low[0], low[1]);
  quads[1] = _mm256_unpackhi_epi16(low[0], low[1]);
  quads[2] = _mm256_unpacklo_epi16(high[0], high[1]);
  quads[3] = _mm256_unpackhi_epi16(high[0], high[1]);
}

KERNELS_ALWAYS_INLINE inline Ints rounded(Ints sums, const float* scales, const float* offsets, const ByteRange& to) {
  const __m256 x = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), _mm256_loadu_ps(scales), _mm256_loadu_ps(offsets));
  return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(to.min)), _mm256_set1_ps(to.max)));
}

#define KERNELS_ROUNDS_AFFINE

/// Rounds sums as rounded() does, but without a range, then rounds `line_scale` times the result plus `line_offset`.
KERNELS_ALWAYS_INLINE inline Ints rounded_affine(Ints sums, const float* scales, const float* offsets, float line_scale,
                                                 float line_offset, const ByteRange& to) {
  const __m256 x = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), _mm256_loadu_ps(scales), _mm256_loadu_ps(offsets));
  const __m256 rounded = _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m256 y = _mm256_fmadd_ps(rounded, _mm256_set1_ps(line_scale), _mm256_set1_ps(line_offset));
  return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(y, _mm256_set1_ps(to.min)), _mm256_set1_ps(to.max)));
}

KERNELS_ALWAYS_INLINE inline Bytes narrow(const Ints (&x)[4]) {
  const __m256i low = _mm256_packs_epi32(x[0], x[1]);
  const __m256i high = _mm256_packs_epi32(x[2], x[3]);
  const __m256i bits = _mm256_set1_epi16(0xFF);
  return _mm256_packus_epi16(_mm256_and_si256(low, bits), _mm256_and_si256(high, bits));
}

KERNELS_ALWAYS_INLINE inline Bytes in_order(Bytes x) {
  return _mm256_permutevar8x32_epi32(x, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

#define KERNELS_HAVE_FMA
KERNELS_ALWAYS_INLINE inline Vector<float> fma(Vector<float> a, Vector<float> b, Vector<float> c) {
  return _mm256_fmadd_ps(a, b, c);
}

// If an operand is NaN, the result is the second operand.
KERNELS_ALWAYS_INLINE inline Vector<float> min(Vector<float> a, Vector<float> b) { return _mm256_min_ps(a, b); }
KERNELS_ALWAYS_INLINE inline Vector<float> max(Vector<float> a, Vector<float> b) { return _mm256_max_ps(a, b); }

KERNELS_ALWAYS_INLINE inline Vector<float> keep_first(Vector<float> vector, int64_t n) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i is_kept = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n < 8 ? n : 8)), lanes);
  return _mm256_and_ps(vector, _mm256_castsi256_ps(is_kept));
}

/// An integer. The lowest bits of `shifted` are n + 127, the exponent bits of the float 2^n.
struct Exponent {
  Vector<float> n;
  Vector<float> shifted;
};

/// x * factor, rounded to an integer.
KERNELS_ALWAYS_INLINE inline Exponent rounded_exponent(Vector<float> x, float factor) {
  constexpr float kShift = 0x1.8p23f + 127;  // The last bit of kShift is 1.
  const Vector<float> shifted = fma(x, broadcast<Vector<float>>(factor), broadcast<Vector<float>>(kShift));
  return {shifted - kShift, shifted};
}
/// 2^n for -126 <= n <= 127.
KERNELS_ALWAYS_INLINE inline __m256 power_of_two(const Exponent& exponent) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(exponent.shifted), 23));
}
KERNELS_ALWAYS_INLINE inline Vector<float> scale_by_exponent(Vector<float> x, const Exponent& exponent) {
  const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), exponent.n);
  if (_mm256_movemask_ps(_mm256_cmp_ps(magnitude, _mm256_set1_ps(126), _CMP_LE_OQ)) == 0xFF) {
    return x * power_of_two(exponent);
  }
  // Two factors, because a float cannot have the exponents of all results. The last product rounds if the result is
  // denormal.
  const auto power = [](__m256i n) KERNELS_ALWAYS_INLINE {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
  };
  const __m256i n = _mm256_cvtps_epi32(exponent.n);
  const __m256i half = _mm256_srai_epi32(n, 1);
  return x * power(half) * power(_mm256_sub_epi32(n, half));
}
KERNELS_ALWAYS_INLINE inline Vector<float> scale_by_exponent_unless_less(Vector<float> x, const Exponent& exponent,
                                                                         Vector<float> y, Vector<float> bound) {
  return _mm256_andnot_ps(_mm256_cmp_ps(y, bound, _CMP_LT_OQ), x * power_of_two(exponent));
}

#if defined(__F16C__)
#define KERNELS_LOADS_HALF
KERNELS_ALWAYS_INLINE inline Vector<float> load_half(const void* from) {
  return _mm256_cvtph_ps(load_as<__m128i>(from));
}
KERNELS_ALWAYS_INLINE inline void store_half(void* to, Vector<float> x) {
  store(to, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
#endif

KERNELS_ALWAYS_INLINE inline Vector<float> load_bfloat16(const void* from) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_as<__m128i>(from)), 16));
}

KERNELS_ALWAYS_INLINE inline void load_chars(const void* from, Vector<float> (&to)[2]) {
  const auto* const bytes = static_cast<const char*>(from);
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + i * 8));
    to[i] = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight));
  }
}

KERNELS_ALWAYS_INLINE inline void load_nibbles(const void* from, Vector<float> (&to)[4]) {
  const auto* const bytes = static_cast<const char*>(from);
  const __m256i zero = _mm256_set1_epi32(8);
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes + i * 8));
    const __m256i both = _mm256_cvtepu8_epi32(eight);
    to[i] = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_and_si256(both, _mm256_set1_epi32(15)), zero));
    to[2 + i] = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_srli_epi32(both, 4), zero));
  }
}

#define KERNELS_HAVE_BYTE_TABLES

/// A table of 256 bytes in vectors, for loops over many bytes: the vectors take more registers than there are, so that
/// the constructor costs as much as the lookup of about 100 bytes one by one.
class ByteTable {
 public:
  KERNELS_ALWAYS_INLINE explicit ByteTable(const uint8_t* bytes) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      parts_[i] = _mm256_broadcastsi128_si256(load_as<__m128i>(bytes + 16 * i));
    }
  }

  KERNELS_ALWAYS_INLINE Bytes operator()(Bytes index) const {
    // Each of the 16 parts is looked up by the lower half of the index. A byte is selected by its highest bit, which
    // the shifts move there. Bits from a neighboring byte come into lower places.
    const Bytes low = _mm256_and_si256(index, _mm256_set1_epi8(15));
    Bytes found[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      found[i] = _mm256_blendv_epi8(_mm256_shuffle_epi8(parts_[2 * i], low),
                                    _mm256_shuffle_epi8(parts_[2 * i + 1], low), _mm256_slli_epi16(index, 3));
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      found[i] = _mm256_blendv_epi8(found[2 * i], found[2 * i + 1], _mm256_slli_epi16(index, 2));
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      found[i] = _mm256_blendv_epi8(found[2 * i], found[2 * i + 1], _mm256_slli_epi16(index, 1));
    }
    return _mm256_blendv_epi8(found[0], found[1], index);
  }

 private:
  Bytes parts_[16];
};

}  // namespace rules_executorch::kernels::simd
