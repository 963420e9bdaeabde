#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/common/vectorize.h"

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/// Vectors of bytes and of 32-bit integers, and how sums of products of bytes become bytes: `sum * scale + offset`,
/// rounded to the nearest integer of a range.
namespace rules_executorch::kernels {

/// Bytes whose products make one sum: a group.
inline constexpr int64_t kGroupBytes = 4;

// kMostParts: the parts of a vector that may lie apart from each other, at most. They have 16 bytes or more.

/// Rounds floats from -2^22 to 2^22 to integers: behind the point, a sum with this one has no digits.
inline constexpr float kRoundingShift = 12582912.0f;

/// What rounded results are clamped to.
struct ByteRange {
  float min;
  float max;
};

#if defined(__AVX512BW__)

using Bytes = __m512i;
using Ints = __m512i;
inline constexpr int64_t kByteLanes = 64;

KERNELS_ALWAYS_INLINE inline Bytes load_bytes(const void* p) { return _mm512_loadu_si512(p); }

/// The first `n` bytes; what is behind them is not read.
KERNELS_ALWAYS_INLINE inline Bytes load_some_bytes(const void* p, int64_t n) {
  return _mm512_maskz_loadu_epi8(n >= kByteLanes ? ~__mmask64{0} : (__mmask64{1} << n) - 1, p);
}

KERNELS_ALWAYS_INLINE inline void store_bytes(void* p, Bytes x) { _mm512_storeu_si512(p, x); }

inline constexpr int kMostParts = 4;

/// Loads the parts of a vector, each from a place of its own.
KERNELS_ALWAYS_INLINE inline Bytes load_parts(const uint8_t* const (&from)[1]) { return load_bytes(from[0]); }

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

KERNELS_ALWAYS_INLINE inline Bytes repeat_group(uint32_t group) { return _mm512_set1_epi32(static_cast<int>(group)); }

KERNELS_ALWAYS_INLINE inline Bytes flip_bits(Bytes x, Bytes bits) { return _mm512_xor_si512(x, bits); }

KERNELS_ALWAYS_INLINE inline Ints zero_ints() { return _mm512_setzero_si512(); }

/// Adds to each sum the products of a group: the bytes of `x` are unsigned, those of `weights` signed.
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

/// Makes groups of the bytes of four rows. The groups of 16 bytes are in four vectors, next to each other in none but
/// their own 16 bytes: interleaved order, which narrow() takes back.
KERNELS_ALWAYS_INLINE inline void interleave(const Bytes (&rows)[4], Bytes (&groups)[4]) {
  const __m512i low[] = {_mm512_unpacklo_epi8(rows[0], rows[1]), _mm512_unpacklo_epi8(rows[2], rows[3])};
  const __m512i high[] = {_mm512_unpackhi_epi8(rows[0], rows[1]), _mm512_unpackhi_epi8(rows[2], rows[3])};
  groups[0] = _mm512_unpacklo_epi16(low[0], low[1]);
  groups[1] = _mm512_unpackhi_epi16(low[0], low[1]);
  groups[2] = _mm512_unpacklo_epi16(high[0], high[1]);
  groups[3] = _mm512_unpackhi_epi16(high[0], high[1]);
}

KERNELS_ALWAYS_INLINE inline Ints rounded(Ints sums, const float* scales, const float* offsets, const ByteRange& to) {
  const __m512 x =
      _mm512_fmadd_ps(_mm512_maskz_cvtepi32_ps(0xFFFF, sums), _mm512_loadu_ps(scales), _mm512_loadu_ps(offsets));
  // With masks wherever there is a choice: GCC warns that the others read what is not initialized.
  const __m512 clamped =
      _mm512_maskz_min_ps(0xFFFF, _mm512_maskz_max_ps(0xFFFF, x, _mm512_set1_ps(to.min)), _mm512_set1_ps(to.max));
  return _mm512_maskz_cvtps_epi32(0xFFFF, clamped);
}

KERNELS_ALWAYS_INLINE inline Bytes narrow(const Ints (&x)[4]) {
  const __m512i low = _mm512_packs_epi32(x[0], x[1]);
  const __m512i high = _mm512_packs_epi32(x[2], x[3]);
  // Integers of 0 to 255, or of -128 to 127: of either, the last 8 bits are the byte.
  const __m512i bits = _mm512_set1_epi16(0xFF);
  return _mm512_packus_epi16(_mm512_and_si512(low, bits), _mm512_and_si512(high, bits));
}

/// What narrow() gives of vectors that are not in interleaved order.
KERNELS_ALWAYS_INLINE inline Bytes in_order(Bytes x) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_maskz_permutexvar_epi32(0xFFFF, order, x);
}

#elif defined(__AVX2__)

using Bytes = __m256i;
using Ints = __m256i;
inline constexpr int64_t kByteLanes = 32;

KERNELS_ALWAYS_INLINE inline Bytes load_bytes(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}

KERNELS_ALWAYS_INLINE inline void store_bytes(void* p, Bytes x) { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }

inline constexpr int kMostParts = 2;

KERNELS_ALWAYS_INLINE inline Bytes load_parts(const uint8_t* const (&from)[1]) { return load_bytes(from[0]); }

KERNELS_ALWAYS_INLINE inline Bytes load_parts(const uint8_t* const (&from)[2]) {
  const auto load = [](const uint8_t* p)
                        KERNELS_ALWAYS_INLINE { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load(from[0])), load(from[1]), 1);
}

KERNELS_ALWAYS_INLINE inline Bytes repeat_group(uint32_t group) { return _mm256_set1_epi32(static_cast<int>(group)); }

KERNELS_ALWAYS_INLINE inline Bytes flip_bits(Bytes x, Bytes bits) { return _mm256_xor_si256(x, bits); }

KERNELS_ALWAYS_INLINE inline Ints zero_ints() { return _mm256_setzero_si256(); }

KERNELS_ALWAYS_INLINE inline Ints add_products(Ints sums, Bytes x, Bytes weights) {
  const __m256i low = _mm256_and_si256(x, _mm256_set1_epi16(0xFF));
  const __m256i high = _mm256_srli_epi16(x, 8);
  const __m256i low_weights = _mm256_srai_epi16(_mm256_slli_epi16(weights, 8), 8);
  const __m256i high_weights = _mm256_srai_epi16(weights, 8);
  return _mm256_add_epi32(sums,
                          _mm256_add_epi32(_mm256_madd_epi16(low, low_weights), _mm256_madd_epi16(high, high_weights)));
}

KERNELS_ALWAYS_INLINE inline void interleave(const Bytes (&rows)[4], Bytes (&groups)[4]) {
  const __m256i low[] = {_mm256_unpacklo_epi8(rows[0], rows[1]), _mm256_unpacklo_epi8(rows[2], rows[3])};
  const __m256i high[] = {_mm256_unpackhi_epi8(rows[0], rows[1]), _mm256_unpackhi_epi8(rows[2], rows[3])};
  groups[0] = _mm256_unpacklo_epi16(low[0], low[1]);
  groups[1] = _mm256_unpackhi_epi16(low[0], low[1]);
  groups[2] = _mm256_unpacklo_epi16(high[0], high[1]);
  groups[3] = _mm256_unpackhi_epi16(high[0], high[1]);
}

KERNELS_ALWAYS_INLINE inline Ints rounded(Ints sums, const float* scales, const float* offsets, const ByteRange& to) {
  const __m256 x = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), _mm256_loadu_ps(scales), _mm256_loadu_ps(offsets));
  return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(to.min)), _mm256_set1_ps(to.max)));
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

#elif defined(__SSE2__)

using Bytes = __m128i;
using Ints = __m128i;
inline constexpr int64_t kByteLanes = 16;

KERNELS_ALWAYS_INLINE inline Bytes load_bytes(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }

KERNELS_ALWAYS_INLINE inline void store_bytes(void* p, Bytes x) { _mm_storeu_si128(static_cast<__m128i*>(p), x); }

KERNELS_ALWAYS_INLINE inline Bytes repeat_group(uint32_t group) { return _mm_set1_epi32(static_cast<int>(group)); }

KERNELS_ALWAYS_INLINE inline Bytes flip_bits(Bytes x, Bytes bits) { return _mm_xor_si128(x, bits); }

KERNELS_ALWAYS_INLINE inline Ints zero_ints() { return _mm_setzero_si128(); }

KERNELS_ALWAYS_INLINE inline Ints add_products(Ints sums, Bytes x, Bytes weights) {
  const __m128i low = _mm_and_si128(x, _mm_set1_epi16(0xFF));
  const __m128i high = _mm_srli_epi16(x, 8);
  const __m128i low_weights = _mm_srai_epi16(_mm_slli_epi16(weights, 8), 8);
  const __m128i high_weights = _mm_srai_epi16(weights, 8);
  return _mm_add_epi32(sums, _mm_add_epi32(_mm_madd_epi16(low, low_weights), _mm_madd_epi16(high, high_weights)));
}

KERNELS_ALWAYS_INLINE inline void interleave(const Bytes (&rows)[4], Bytes (&groups)[4]) {
  const __m128i low[] = {_mm_unpacklo_epi8(rows[0], rows[1]), _mm_unpacklo_epi8(rows[2], rows[3])};
  const __m128i high[] = {_mm_unpackhi_epi8(rows[0], rows[1]), _mm_unpackhi_epi8(rows[2], rows[3])};
  groups[0] = _mm_unpacklo_epi16(low[0], low[1]);
  groups[1] = _mm_unpackhi_epi16(low[0], low[1]);
  groups[2] = _mm_unpacklo_epi16(high[0], high[1]);
  groups[3] = _mm_unpackhi_epi16(high[0], high[1]);
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

#elif defined(__aarch64__)

using Bytes = uint8x16_t;
using Ints = int32x4_t;
inline constexpr int64_t kByteLanes = 16;

KERNELS_ALWAYS_INLINE inline Bytes load_bytes(const void* p) { return vld1q_u8(static_cast<const uint8_t*>(p)); }

KERNELS_ALWAYS_INLINE inline void store_bytes(void* p, Bytes x) { vst1q_u8(static_cast<uint8_t*>(p), x); }

KERNELS_ALWAYS_INLINE inline void store_ints(void* p, Ints x) { vst1q_s32(static_cast<int32_t*>(p), x); }

KERNELS_ALWAYS_INLINE inline Bytes repeat_group(uint32_t group) { return vreinterpretq_u8_u32(vdupq_n_u32(group)); }

KERNELS_ALWAYS_INLINE inline Bytes flip_bits(Bytes x, Bytes bits) { return veorq_u8(x, bits); }

KERNELS_ALWAYS_INLINE inline Ints zero_ints() { return vdupq_n_s32(0); }

KERNELS_ALWAYS_INLINE inline Ints add_products(Ints sums, Bytes x, Bytes weights) {
  const int8x16_t signed_weights = vreinterpretq_s8_u8(weights);
#if defined(__ARM_FEATURE_MATMUL_INT8)
  return vusdotq_s32(sums, x, signed_weights);
#elif defined(__ARM_FEATURE_DOTPROD)
  // Both operands are signed: each byte of x is 128 less, and the sum lacks 128 times the weights. Rows that have these
  // weights share what mends that.
  const int8x16_t signed_x = vreinterpretq_s8_u8(veorq_u8(x, vdupq_n_u8(0x80)));
  const Ints lacking = vdotq_s32(zero_ints(), vdupq_n_s8(-128), signed_weights);
  return vdotq_s32(vsubq_s32(sums, lacking), signed_x, signed_weights);
#else
  // A product of two bytes has 16 bits.
  const int16x8_t low =
      vmulq_s16(vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(x))), vmovl_s8(vget_low_s8(signed_weights)));
  const int16x8_t high =
      vmulq_s16(vreinterpretq_s16_u16(vmovl_u8(vget_high_u8(x))), vmovl_s8(vget_high_s8(signed_weights)));
  return vaddq_s32(sums, vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)));
#endif
}

KERNELS_ALWAYS_INLINE inline void interleave(const Bytes (&rows)[4], Bytes (&groups)[4]) {
  const uint16x8_t low[] = {vreinterpretq_u16_u8(vzip1q_u8(rows[0], rows[1])),
                            vreinterpretq_u16_u8(vzip1q_u8(rows[2], rows[3]))};
  const uint16x8_t high[] = {vreinterpretq_u16_u8(vzip2q_u8(rows[0], rows[1])),
                             vreinterpretq_u16_u8(vzip2q_u8(rows[2], rows[3]))};
  groups[0] = vreinterpretq_u8_u16(vzip1q_u16(low[0], low[1]));
  groups[1] = vreinterpretq_u8_u16(vzip2q_u16(low[0], low[1]));
  groups[2] = vreinterpretq_u8_u16(vzip1q_u16(high[0], high[1]));
  groups[3] = vreinterpretq_u8_u16(vzip2q_u16(high[0], high[1]));
}

KERNELS_ALWAYS_INLINE inline Ints rounded(Ints sums, const float* scales, const float* offsets, const ByteRange& to) {
  const float32x4_t x = vfmaq_f32(vld1q_f32(offsets), vcvtq_f32_s32(sums), vld1q_f32(scales));
  return vcvtnq_s32_f32(vminq_f32(vmaxq_f32(x, vdupq_n_f32(to.min)), vdupq_n_f32(to.max)));
}

KERNELS_ALWAYS_INLINE inline Bytes narrow(const Ints (&x)[4]) {
  const int16x8_t low = vcombine_s16(vmovn_s32(x[0]), vmovn_s32(x[1]));
  const int16x8_t high = vcombine_s16(vmovn_s32(x[2]), vmovn_s32(x[3]));
  return vreinterpretq_u8_s8(vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
}

KERNELS_ALWAYS_INLINE inline Bytes in_order(Bytes x) { return x; }

#else

// Loops over lanes, which the compiler vectorizes if the processor has vectors.
struct Bytes {
  uint8_t lanes[16];
};
struct Ints {
  int32_t lanes[4];
};
inline constexpr int64_t kByteLanes = 16;

inline Bytes load_bytes(const void* p) {
  Bytes x;
  std::memcpy(&x, p, sizeof(x));
  return x;
}

inline void store_bytes(void* p, const Bytes& x) { std::memcpy(p, &x, sizeof(x)); }

inline void store_ints(void* p, const Ints& x) { std::memcpy(p, &x, sizeof(x)); }

inline Bytes repeat_group(uint32_t group) {
  Bytes x;
  for (int i = 0; i < 4; ++i) {
    std::memcpy(x.lanes + 4 * i, &group, sizeof(group));
  }
  return x;
}

inline Bytes flip_bits(Bytes x, const Bytes& bits) {
  for (int i = 0; i < 16; ++i) {
    x.lanes[i] ^= bits.lanes[i];
  }
  return x;
}

inline Ints zero_ints() { return {}; }

inline Ints add_products(Ints sums, const Bytes& x, const Bytes& weights) {
  for (int i = 0; i < 4; ++i) {
    for (int j = 4 * i; j < 4 * i + 4; ++j) {
      sums.lanes[i] += static_cast<int32_t>(x.lanes[j]) * static_cast<int8_t>(weights.lanes[j]);
    }
  }
  return sums;
}

inline void interleave(const Bytes (&rows)[4], Bytes (&groups)[4]) {
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 4; ++j) {
      groups[i / 4].lanes[i % 4 * 4 + j] = rows[j].lanes[i];
    }
  }
}

inline Ints rounded(Ints sums, const float* scales, const float* offsets, const ByteRange& to) {
  for (int i = 0; i < 4; ++i) {
    float x = static_cast<float>(sums.lanes[i]) * scales[i] + offsets[i];
    x = x > to.min ? x : to.min;
    x = (x < to.max ? x : to.max) + kRoundingShift;
    std::memcpy(&sums.lanes[i], &x, sizeof(x));
  }
  return sums;
}

inline Bytes narrow(const Ints (&x)[4]) {
  Bytes bytes;
  for (int i = 0; i < 16; ++i) {
    bytes.lanes[i] = static_cast<uint8_t>(x[i / 4].lanes[i % 4]);
  }
  return bytes;
}

inline Bytes in_order(Bytes x) { return x; }

#endif

#if defined(__SSE2__)

KERNELS_ALWAYS_INLINE inline void store_ints(void* p, Ints x) { store_bytes(p, x); }

#endif

#if !defined(__AVX2__)

inline constexpr int kMostParts = 1;

KERNELS_ALWAYS_INLINE inline Bytes load_parts(const uint8_t* const (&from)[1]) { return load_bytes(from[0]); }

#endif

#if !defined(__AVX512BW__)

inline Bytes load_some_bytes(const void* p, int64_t n) {
  uint8_t bytes[kByteLanes] = {};
  std::memcpy(bytes, p, static_cast<size_t>(n < kByteLanes ? n : kByteLanes));
  return load_bytes(bytes);
}

#endif

/// Integers of a vector.
inline constexpr int64_t kIntLanes = kByteLanes / kGroupBytes;

/// Copies `n` bytes, few of them: a call of memcpy takes longer.
KERNELS_ALWAYS_INLINE inline void copy_few_bytes(void* to, const void* from, int64_t n) {
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  for (; n >= 16; n -= 16, target += 16, source += 16) {
    std::memcpy(target, source, 16);
  }
  if (n >= 8) {
    std::memcpy(target, source, 8);
    n -= 8, target += 8, source += 8;
  }
  for (; n > 0; --n) {
    *target++ = *source++;
  }
}

/// The bytes that four vectors of sums become.
KERNELS_ALWAYS_INLINE inline Bytes narrow_sums(const Ints (&sums)[4], const float* scales, const float* offsets,
                                               const ByteRange& to) {
  Ints x[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    x[i] = rounded(sums[i], scales + i * kIntLanes, offsets + i * kIntLanes, to);
  }
  return narrow(x);
}

}  // namespace rules_executorch::kernels
