#pragma once

#include <arm_neon.h>

#include <cstdint>

#include "kernels/simd/byte_range.h"
#include "kernels/simd/vector.h"

namespace rules_executorch::kernels::simd {

using Bytes = uint8x16_t;
using Ints = int32x4_t;
inline constexpr int64_t kByteLanes = 16;

KERNELS_ALWAYS_INLINE inline Ints add_products(Ints sums, Bytes x, Bytes weights) {
  const int8x16_t signed_weights = vreinterpretq_s8_u8(weights);
#if defined(__ARM_FEATURE_MATMUL_INT8)
  return vusdotq_s32(sums, x, signed_weights);
#elif defined(__ARM_FEATURE_DOTPROD)
  // The instruction needs two signed operands: 128 is subtracted from each byte of x, and 128 times the weights is
  // added to the sum. Compilers compute the correction once for all rows that have the same weights.
  const int8x16_t signed_x = vreinterpretq_s8_u8(veorq_u8(x, vdupq_n_u8(0x80)));
  const Ints lacking = vdotq_s32(Ints{}, vdupq_n_s8(-128), signed_weights);
  return vdotq_s32(vsubq_s32(sums, lacking), signed_x, signed_weights);
#else
  // The product of two bytes fits into 16 bits.
  const int16x8_t low =
      vmulq_s16(vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(x))), vmovl_s8(vget_low_s8(signed_weights)));
  const int16x8_t high =
      vmulq_s16(vreinterpretq_s16_u16(vmovl_u8(vget_high_u8(x))), vmovl_s8(vget_high_s8(signed_weights)));
  return vaddq_s32(sums, vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)));
#endif
}

#define KERNELS_MULTIPLIES_BY_ELEMENT
/// sums + a[kLane] * b
template <int kLane>
KERNELS_ALWAYS_INLINE inline Vector<float> add_element_product(Vector<float> sums, Vector<float> a, Vector<float> b) {
  return reinterpret_cast<Vector<float>>(vfmaq_laneq_f32(
      reinterpret_cast<float32x4_t>(sums), reinterpret_cast<float32x4_t>(b), reinterpret_cast<float32x4_t>(a), kLane));
}

template <int kLane>
KERNELS_ALWAYS_INLINE inline Vector<double> add_element_product(Vector<double> sums, Vector<double> a,
                                                                Vector<double> b) {
  return reinterpret_cast<Vector<double>>(vfmaq_laneq_f64(
      reinterpret_cast<float64x2_t>(sums), reinterpret_cast<float64x2_t>(b), reinterpret_cast<float64x2_t>(a), kLane));
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

#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#define KERNELS_MULTIPLIES_PAIRS
KERNELS_ALWAYS_INLINE inline Vector<float> add_pairs(Vector<float> sums, float pair, Vector<float> pairs) {
  return reinterpret_cast<Vector<float>>(vbfdotq_f32(reinterpret_cast<float32x4_t>(sums),
                                                     reinterpret_cast<bfloat16x8_t>(vdupq_n_f32(pair)),
                                                     reinterpret_cast<bfloat16x8_t>(pairs)));
}
#endif

}  // namespace rules_executorch::kernels::simd
