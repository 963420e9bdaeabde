#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/simd/byte_range.h"
#include "kernels/simd/vector.h"

namespace rules_executorch::kernels::simd {

// This file uses the masked intrinsics with a mask of all lanes: for the unmasked ones, GCC warns about reads of
// uninitialized memory.
inline constexpr __mmask16 kAllLanes = 0xFFFF;

/// The mask of the first `n` lanes.
inline __mmask16 first_lanes(int64_t n) { return n >= 16 ? kAllLanes : static_cast<__mmask16>((1 << n) - 1); }

using Bytes = __m512i;
using Ints = __m512i;
inline constexpr int64_t kByteLanes = 64;

/// Loads the first `n` bytes and sets the other lanes to zero. Reads no memory after these bytes.
KERNELS_ALWAYS_INLINE inline Bytes load_some_bytes(const void* p, int64_t n) {
  return _mm512_maskz_loadu_epi8(n >= kByteLanes ? ~__mmask64{0} : (__mmask64{1} << n) - 1, p);
}

inline constexpr int kMostParts = 4;

/// Loads the equal parts of a vector, each from its own address.
KERNELS_ALWAYS_INLINE inline Bytes load_parts(const uint8_t* const (&from)[1]) { return load_as<Bytes>(from[0]); }

KERNELS_ALWAYS_INLINE inline Bytes load_parts(const uint8_t* const (&from)[2]) {
  const auto load = [](const uint8_t* p)
                        KERNELS_ALWAYS_INLINE { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); };
  return _mm512_maskz_inserti64x4(0xFF, _mm512_castsi256_si512(load(from[0])), load(from[1]), 1);
}

KERNELS_ALWAYS_INLINE inline Bytes load_parts(const uint8_t* const (&from)[4]) {
  const auto load = [](const uint8_t* p)
                        KERNELS_ALWAYS_INLINE { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
  const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(load(from[0])), load(from[1]), 1);
  const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(load(from[2])), load(from[3]), 1);
  return _mm512_maskz_inserti64x4(0xFF, _mm512_castsi256_si512(low), high, 1);
}

/// Stores the equal parts of a vector, each to its own address.
KERNELS_ALWAYS_INLINE inline void store_parts(void* const (&to)[1], Bytes bytes) { store(to[0], bytes); }

KERNELS_ALWAYS_INLINE inline void store_parts(void* const (&to)[2], Bytes bytes) {
  _mm256_storeu_si256(static_cast<__m256i*>(to[0]), _mm512_maskz_extracti64x4_epi64(0xFF, bytes, 0));
  _mm256_storeu_si256(static_cast<__m256i*>(to[1]), _mm512_maskz_extracti64x4_epi64(0xFF, bytes, 1));
}

KERNELS_ALWAYS_INLINE inline void store_parts(void* const (&to)[4], Bytes bytes) {
  _mm_storeu_si128(static_cast<__m128i*>(to[0]), _mm512_maskz_extracti32x4_epi32(0xFF, bytes, 0));
  _mm_storeu_si128(static_cast<__m128i*>(to[1]), _mm512_maskz_extracti32x4_epi32(0xFF, bytes, 1));
  _mm_storeu_si128(static_cast<__m128i*>(to[2]), _mm512_maskz_extracti32x4_epi32(0xFF, bytes, 2));
  _mm_storeu_si128(static_cast<__m128i*>(to[3]), _mm512_maskz_extracti32x4_epi32(0xFF, bytes, 3));
}

/// Adds to each 32-bit sum the products of the four bytes of its quad. The bytes of `x` are unsigned, the bytes of
/// `weights` are signed.
KERNELS_ALWAYS_INLINE inline Ints add_products(Ints sums, Bytes x, Bytes weights) {
#if defined(__AVX512VNNI__)
  return _mm512_dpbusd_epi32(sums, x, weights);
#else
  const __m512i low = _mm512_and_si512(x, _mm512_set1_epi16(0xFF));
  const __m512i high = _mm512_srli_epi16(x, 8);
  const __m512i low_weights = _mm512_srai_epi16(_mm512_slli_epi16(weights, 8), 8);
  const __m512i high_weights = _mm512_srai_epi16(weights, 8);
  return _mm512_add_epi32(sums,
                          _mm512_add_epi32(_mm512_madd_epi16(low, low_weights), _mm512_madd_epi16(high, high_weights)));
#endif
}

/// Interleaves the bytes of four rows: byte i of all rows becomes quad i, of 4 bytes. The quads are in interleaved
/// order: each step works on the 16-byte parts of the vectors separately. narrow() restores the order of the bytes.
///
///     16-byte part     0              1              2              3
///     quads[0]        quads 0-3     quads 16-19   quads 32-35   quads 48-51
///     quads[1]        quads 4-7     quads 20-23   quads 36-39   quads 52-55
KERNELS_ALWAYS_INLINE inline void interleave(const Bytes (&rows)[4], Bytes (&quads)[4]) {
  const __m512i low[] = {_mm512_unpacklo_epi8(rows[0], rows[1]), _mm512_unpacklo_epi8(rows[2], rows[3])};
  const __m512i high[] = {_mm512_unpackhi_epi8(rows[0], rows[1]), _mm512_unpackhi_epi8(rows[2], rows[3])};
  quads[0] = _mm512_unpacklo_epi16(low[0], low[1]);
  quads[1] = _mm512_unpackhi_epi16(low[0], low[1]);
  quads[2] = _mm512_unpacklo_epi16(high[0], high[1]);
  quads[3] = _mm512_unpackhi_epi16(high[0], high[1]);
}

KERNELS_ALWAYS_INLINE inline Ints rounded(Ints sums, const float* scales, const float* offsets, const ByteRange& to) {
  const __m512 x =
      _mm512_fmadd_ps(_mm512_maskz_cvtepi32_ps(kAllLanes, sums), _mm512_loadu_ps(scales), _mm512_loadu_ps(offsets));
  const __m512 clamped =
      _mm512_maskz_min_ps(kAllLanes, _mm512_maskz_max_ps(kAllLanes, x, _mm512_set1_ps(to.min)), _mm512_set1_ps(to.max));
  return _mm512_maskz_cvtps_epi32(kAllLanes, clamped);
}

KERNELS_ALWAYS_INLINE inline Bytes narrow(const Ints (&x)[4]) {
  const __m512i low = _mm512_packs_epi32(x[0], x[1]);
  const __m512i high = _mm512_packs_epi32(x[2], x[3]);
  // The integers are from 0 to 255 or from -128 to 127. In both cases, the lowest 8 bits are the byte.
  const __m512i bits = _mm512_set1_epi16(0xFF);
  return _mm512_packus_epi16(_mm512_and_si512(low, bits), _mm512_and_si512(high, bits));
}

/// The order of the bytes after narrow() of vectors that are not in interleaved order.
KERNELS_ALWAYS_INLINE inline Bytes in_order(Bytes x) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_maskz_permutexvar_epi32(kAllLanes, order, x);
}

/// a * b + c, rounded once.
#define KERNELS_HAVE_FMA
KERNELS_ALWAYS_INLINE inline Vector<float> fma(Vector<float> a, Vector<float> b, Vector<float> c) {
  return _mm512_fmadd_ps(a, b, c);
}

// If an operand is NaN, the result is the second operand.
KERNELS_ALWAYS_INLINE inline Vector<float> min(Vector<float> a, Vector<float> b) {
  return _mm512_maskz_min_ps(kAllLanes, a, b);
}
KERNELS_ALWAYS_INLINE inline Vector<float> max(Vector<float> a, Vector<float> b) {
  return _mm512_maskz_max_ps(kAllLanes, a, b);
}

/// Loads the first `n` elements and sets the other lanes to zero. Reads no memory after these elements.
KERNELS_ALWAYS_INLINE inline Vector<float> load_first(const float* from, int64_t n) {
  return _mm512_maskz_loadu_ps(first_lanes(n), from);
}
KERNELS_ALWAYS_INLINE inline void store_first(float* to, Vector<float> vector, int64_t n) {
  _mm512_mask_storeu_ps(to, first_lanes(n), vector);
}
/// Sets the lanes after the first `n` to zero.
KERNELS_ALWAYS_INLINE inline Vector<float> keep_first(Vector<float> vector, int64_t n) {
  return _mm512_maskz_mov_ps(first_lanes(n), vector);
}

/// A multiple of 1/16. The lowest bits of `shifted` are those of the integer 16 n.
struct Exponent {
  Vector<float> n;
  Vector<float> shifted;
};

/// x * factor, rounded to a multiple of 1/16.
KERNELS_ALWAYS_INLINE inline Exponent rounded_exponent(Vector<float> x, float factor) {
  constexpr float kShift = 0x1.8p19f;  // The last bit of kShift is 1/16.
  const Vector<float> shifted = fma(x, broadcast<Vector<float>>(factor), broadcast<Vector<float>>(kShift));
  return {shifted - kShift, shifted};
}
/// x * 2^floor(n). NaN if x or n is NaN.
KERNELS_ALWAYS_INLINE inline Vector<float> scale_by_exponent(Vector<float> x, const Exponent& exponent) {
  return _mm512_maskz_scalef_ps(kAllLanes, x, exponent.n);
}
/// x * 2^floor(n), or 0 in lanes where y < bound. In the other lanes, the result must be neither infinite nor denormal.
KERNELS_ALWAYS_INLINE inline Vector<float> scale_by_exponent_unless_less(Vector<float> x, const Exponent& exponent,
                                                                         Vector<float> y, Vector<float> bound) {
  return _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(y, bound, _CMP_NLT_UQ), x, exponent.n);
}

/// One instruction looks up all lanes in a table of 16 elements.
#define KERNELS_HAVE_FLOAT_TABLES
/// `table[i]` for each lane, where i is the lowest four bits of the lane of `indices`.
KERNELS_ALWAYS_INLINE inline Vector<float> look_up(const float (&table)[16], Vector<float> indices) {
  return _mm512_maskz_permutexvar_ps(kAllLanes, _mm512_castps_si512(indices), _mm512_loadu_ps(table));
}
KERNELS_ALWAYS_INLINE inline Vector<float> abs(Vector<float> x) { return _mm512_abs_ps(x); }
/// `x` where `y` is negative, 1 - x where `y` is zero, positive or NaN.
KERNELS_ALWAYS_INLINE inline Vector<float> one_less_unless_negative(Vector<float> x, Vector<float> y) {
  const __mmask16 is_positive = _mm512_cmp_ps_mask(y, _mm512_setzero_ps(), _CMP_NLT_UQ);
  return _mm512_mask_sub_ps(x, is_positive, _mm512_set1_ps(1), x);
}

#define KERNELS_LOADS_HALF
/// Converts half-precision floats to floats. store_half() converts in the other direction and rounds to nearest even.
KERNELS_ALWAYS_INLINE inline Vector<float> load_half(const void* from) {
  return _mm512_maskz_cvtph_ps(kAllLanes, load_as<__m256i>(from));
}
KERNELS_ALWAYS_INLINE inline void store_half(void* to, Vector<float> x) {
  store(to, _mm512_maskz_cvtps_ph(kAllLanes, x, _MM_FROUND_TO_NEAREST_INT));
}

/// Converts bfloat16 to floats.
KERNELS_ALWAYS_INLINE inline Vector<float> load_bfloat16(const void* from) {
  const __m512i wide = _mm512_maskz_cvtepu16_epi32(kAllLanes, load_as<__m256i>(from));
  return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAllLanes, wide, 16));
}

#if defined(__AVX512BF16__)
#define KERNELS_STORES_BFLOAT16
/// Rounds floats to bfloat16.
KERNELS_ALWAYS_INLINE inline void store_bfloat16(void* to, Vector<float> x) { store(to, _mm512_cvtneps_pbh(x)); }

#define KERNELS_MULTIPLIES_PAIRS
/// Multiplies `pair`, the bits of two bfloat16, by each pair of bfloat16 in `pairs`, and adds the two products to each
/// sum.
KERNELS_ALWAYS_INLINE inline Vector<float> add_pairs(Vector<float> sums, float pair, Vector<float> pairs) {
  return _mm512_dpbf16_ps(sums, reinterpret_cast<__m512bh>(_mm512_set1_ps(pair)), reinterpret_cast<__m512bh>(pairs));
}
#endif

/// Converts 16 signed bytes to floats.
KERNELS_ALWAYS_INLINE inline void load_chars(const void* from, Vector<float> (&to)[1]) {
  to[0] = _mm512_maskz_cvtepi32_ps(kAllLanes, _mm512_maskz_cvtepi8_epi32(kAllLanes, load_as<__m128i>(from)));
}

/// Converts 32 signed 4-bit integers, each stored with an offset of 8, to floats: the lower nibbles of 16 bytes, then
/// the higher nibbles.
KERNELS_ALWAYS_INLINE inline void load_nibbles(const void* from, Vector<float> (&to)[2]) {
  constexpr float kValues[] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
  const __m512 values = _mm512_loadu_ps(kValues);
  const __m512i indices = _mm512_maskz_cvtepu8_epi32(kAllLanes, load_as<__m128i>(from));
  to[0] = _mm512_maskz_permutexvar_ps(kAllLanes, indices, values);
  to[1] = _mm512_maskz_permutexvar_ps(kAllLanes, _mm512_maskz_srli_epi32(kAllLanes, indices, 4), values);
}

}  // namespace rules_executorch::kernels::simd
