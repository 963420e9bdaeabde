#pragma once

#include <arm_neon.h>

#include <cstdint>

#include "kernels/simd/byte_range.h"
#include "kernels/simd/vector.h"

namespace rules_executorch::kernels::simd {

using Bytes = uint8x16_t;
using Ints = int32x4_t;
inline constexpr int64_t kByteLanes = 16;

#if defined(__ARM_FEATURE_MATMUL_INT8)

KERNELS_ALWAYS_INLINE inline Ints add_products(Ints sums, Bytes x, Bytes weights) {
  return vusdotq_s32(sums, x, vreinterpretq_s8_u8(weights));
}

#define KERNELS_MULTIPLIES_MATRICES

/// A matrix of two rows: eight bytes from each address.
KERNELS_ALWAYS_INLINE inline Bytes load_rows(const void* first, const void* second) {
  return vcombine_u8(vld1_u8(static_cast<const uint8_t*>(first)), vld1_u8(static_cast<const uint8_t*>(second)));
}

/// Two matrices of two rows, each row a quad of `first` and the same quad of `second`.
KERNELS_ALWAYS_INLINE inline void interleave_quads(Bytes first, Bytes second, Bytes (&matrices)[2]) {
  matrices[0] = vreinterpretq_u8_u32(vzip1q_u32(vreinterpretq_u32_u8(first), vreinterpretq_u32_u8(second)));
  matrices[1] = vreinterpretq_u8_u32(vzip2q_u32(vreinterpretq_u32_u8(first), vreinterpretq_u32_u8(second)));
}

/// Adds the products of each row of `x` and each row of `weights`: a matrix of two rows and two columns.
KERNELS_ALWAYS_INLINE inline Ints add_matrix_products(Ints sums, Bytes x, Bytes weights) {
  return vusmmlaq_s32(sums, x, vreinterpretq_s8_u8(weights));
}

/// The rows of two matrices of sums, side by side.
KERNELS_ALWAYS_INLINE inline void rows_of_matrices(Ints left, Ints right, Ints (&rows)[2]) {
  rows[0] = vreinterpretq_s32_s64(vzip1q_s64(vreinterpretq_s64_s32(left), vreinterpretq_s64_s32(right)));
  rows[1] = vreinterpretq_s32_s64(vzip2q_s64(vreinterpretq_s64_s32(left), vreinterpretq_s64_s32(right)));
}

#else

// add_quad_products<kQuad>() adds to each sum the products of quad kQuad of x, in place of the sum's own quad, and
// of the sum's quad of weights. total() returns the 32-bit sums.
#define KERNELS_MULTIPLIES_BY_QUAD
#define KERNELS_MULTIPLIES_SIGNED_BYTES

#if defined(__ARM_FEATURE_DOTPROD)

KERNELS_ALWAYS_INLINE inline Ints add_products(Ints sums, Bytes x, Bytes weights) {
  return vdotq_s32(sums, vreinterpretq_s8_u8(x), vreinterpretq_s8_u8(weights));
}

/// Adds to each sum the weights of its quad.
KERNELS_ALWAYS_INLINE inline Ints add_quad_weights(Ints sums, Bytes weights) {
  return vdotq_s32(sums, vdupq_n_s8(1), vreinterpretq_s8_u8(weights));
}

using QuadSums = Ints;

template <int kQuad>
KERNELS_ALWAYS_INLINE inline QuadSums add_quad_products(QuadSums sums, Bytes x, Bytes weights) {
  // GCC would order these instructions so that loads are no pairs and sums are in memory.
  asm("sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(sums) : "w"(weights), "w"(x), "i"(kQuad));
  return sums;
}

KERNELS_ALWAYS_INLINE inline Ints total(QuadSums sums) { return sums; }

#else

/// 16-bit integers: products, or sums of products, of the lower and of the higher eight bytes.
struct Shorts {
  int16x8_t lower;
  int16x8_t higher;
};

KERNELS_ALWAYS_INLINE inline Shorts products_of(Bytes x, Bytes weights) {
  return {vmull_s8(vget_low_s8(vreinterpretq_s8_u8(x)), vget_low_s8(vreinterpretq_s8_u8(weights))),
          vmull_high_s8(vreinterpretq_s8_u8(x), vreinterpretq_s8_u8(weights))};
}

/// Adds to each 32-bit sum four 16-bit integers.
KERNELS_ALWAYS_INLINE inline Ints add_shorts(Ints sums, Shorts shorts) {
  return vaddq_s32(sums, vpaddq_s32(vpaddlq_s16(shorts.lower), vpaddlq_s16(shorts.higher)));
}

KERNELS_ALWAYS_INLINE inline Ints add_products(Ints sums, Bytes x, Bytes weights) {
  return add_shorts(sums, products_of(x, weights));
}

/// Adds to each sum the weights of its quad.
KERNELS_ALWAYS_INLINE inline Ints add_quad_weights(Ints sums, Bytes weights) {
  return vpadalq_s16(sums, vpaddlq_s8(vreinterpretq_s8_u8(weights)));
}

/// Sums of two neighboring products.
struct QuadSums {
  Ints lower;
  Ints higher;
};

template <int kQuad>
KERNELS_ALWAYS_INLINE inline QuadSums add_quad_products(QuadSums sums, Bytes x, Bytes weights) {
  const Shorts products = products_of(vreinterpretq_u8_u32(vdupq_laneq_u32(vreinterpretq_u32_u8(x), kQuad)), weights);
  return {vpadalq_s16(sums.lower, products.lower), vpadalq_s16(sums.higher, products.higher)};
}

#define KERNELS_MULTIPLIES_PAIRS_OF_QUADS

/// Adds the products of quad kQuad of x and of the sum's quad of `first`, those of the next quad of x and of `second`,
/// and the weights `second`: the products are first added in 16 bits. The sum of two products alone could be
/// 2 * -128 * -128, which does not fit. x * v - ~y * w is x * v + y * w + w, and always fits.
template <int kQuad>
KERNELS_ALWAYS_INLINE inline QuadSums add_pair_products(QuadSums sums, Bytes x, Bytes first, Bytes second) {
  // Otherwise, GCC loads the row into two general registers, and copies quads from there.
  asm("" : "+w"(x));
  const uint32x4_t quads = vreinterpretq_u32_u8(x);
  const int8x16_t complement = vreinterpretq_s8_u32(vdupq_laneq_u32(vmvnq_u32(quads), kQuad + 1));
  const int8x16_t weights = vreinterpretq_s8_u8(second);
  Shorts products = products_of(vreinterpretq_u8_u32(vdupq_laneq_u32(quads, kQuad)), first);
  asm("smlsl %0.8h, %1.8b, %2.8b" : "+w"(products.lower) : "w"(complement), "w"(weights));
  asm("smlsl2 %0.8h, %1.16b, %2.16b" : "+w"(products.higher) : "w"(complement), "w"(weights));
  asm("sadalp %0.4s, %1.8h" : "+w"(sums.lower) : "w"(products.lower));
  asm("sadalp %0.4s, %1.8h" : "+w"(sums.higher) : "w"(products.higher));
  return sums;
}

KERNELS_ALWAYS_INLINE inline Ints total(QuadSums sums) { return vpaddq_s32(sums.lower, sums.higher); }

// Sums of products of weights of 4 bits: a product is at most 128 * 8, so that 16 bits hold 31.
#define KERNELS_ADDS_NIBBLES_IN_SHORTS
/// The elements of a column whose products 16-bit sums hold: 16 quads.
inline constexpr int64_t kShortsDepth = 64;

/// Adds to each 16-bit sum the product of two bytes.
KERNELS_ALWAYS_INLINE inline Shorts add_to_shorts(Shorts sums, Bytes x, Bytes weights) {
  return {vmlal_s8(sums.lower, vget_low_s8(vreinterpretq_s8_u8(x)), vget_low_s8(vreinterpretq_s8_u8(weights))),
          vmlal_high_s8(sums.higher, vreinterpretq_s8_u8(x), vreinterpretq_s8_u8(weights))};
}

#endif
#endif

#define KERNELS_SPLITS_NIBBLES
#if defined(KERNELS_ADDS_NIBBLES_IN_SHORTS)
inline constexpr int kNibbleFactor = 1;

KERNELS_ALWAYS_INLINE inline Bytes higher_nibbles(Bytes x) {
  return vreinterpretq_u8_s8(vshrq_n_s8(vreinterpretq_s8_u8(x), 4));
}
KERNELS_ALWAYS_INLINE inline Bytes lower_nibbles(Bytes x) { return higher_nibbles(vshlq_n_u8(x, 4)); }
#else
inline constexpr int kNibbleFactor = 16;

KERNELS_ALWAYS_INLINE inline Bytes higher_nibbles(Bytes x) { return vandq_u8(x, vdupq_n_u8(0xF0)); }
KERNELS_ALWAYS_INLINE inline Bytes lower_nibbles(Bytes x) { return vshlq_n_u8(x, 4); }
#endif

#define KERNELS_MULTIPLIES_BY_ELEMENT

/// sums + a[kLane] * b. GCC would copy the element to all lanes of a register first, for which tiles have no registers.
template <int kLane>
KERNELS_ALWAYS_INLINE inline Vector<float> add_element_product(Vector<float> sums, Vector<float> a, Vector<float> b) {
  asm("fmla %0.4s, %1.4s, %2.s[%3]" : "+w"(sums) : "w"(b), "w"(a), "i"(kLane));
  return sums;
}

template <int kLane>
KERNELS_ALWAYS_INLINE inline Vector<double> add_element_product(Vector<double> sums, Vector<double> a,
                                                                Vector<double> b) {
  asm("fmla %0.2d, %1.2d, %2.d[%3]" : "+w"(sums) : "w"(b), "w"(a), "i"(kLane));
  return sums;
}

/// NaN propagates, as it does not in all operands of min() and max().
KERNELS_ALWAYS_INLINE inline Vector<float> clamp(Vector<float> x, float minimum, float maximum) {
  const float32x4_t raised = vmaxq_f32(reinterpret_cast<float32x4_t>(x), vdupq_n_f32(minimum));
  return reinterpret_cast<Vector<float>>(vminq_f32(raised, vdupq_n_f32(maximum)));
}

KERNELS_ALWAYS_INLINE inline void interleave(const Bytes (&rows)[4], Bytes (&quads)[4]) {
  const uint16x8_t low[] = {vreinterpretq_u16_u8(vzip1q_u8(rows[0], rows[1])),
                            vreinterpretq_u16_u8(vzip1q_u8(rows[2], rows[3]))};
  const uint16x8_t high[] = {vreinterpretq_u16_u8(vzip2q_u8(rows[0], rows[1])),
                             vreinterpretq_u16_u8(vzip2q_u8(rows[2], rows[3]))};
  quads[0] = vreinterpretq_u8_u16(vzip1q_u16(low[0], low[1]));
  quads[1] = vreinterpretq_u8_u16(vzip2q_u16(low[0], low[1]));
  quads[2] = vreinterpretq_u8_u16(vzip1q_u16(high[0], high[1]));
  quads[3] = vreinterpretq_u8_u16(vzip2q_u16(high[0], high[1]));
}

KERNELS_ALWAYS_INLINE inline Ints rounded(Ints sums, const float* scales, const float* offsets, const ByteRange& to) {
  const float32x4_t x = vfmaq_f32(vld1q_f32(offsets), vcvtq_f32_s32(sums), vld1q_f32(scales));
  return vcvtnq_s32_f32(vminq_f32(vmaxq_f32(x, vdupq_n_f32(to.min)), vdupq_n_f32(to.max)));
}

#define KERNELS_ROUNDS_AFFINE

KERNELS_ALWAYS_INLINE inline Ints rounded_affine(Ints sums, const float* scales, const float* offsets, float line_scale,
                                                 float line_offset, const ByteRange& to) {
  const float32x4_t x = vrndnq_f32(vfmaq_f32(vld1q_f32(offsets), vcvtq_f32_s32(sums), vld1q_f32(scales)));
  const float32x4_t y = vfmaq_f32(vdupq_n_f32(line_offset), x, vdupq_n_f32(line_scale));
  return vcvtnq_s32_f32(vminq_f32(vmaxq_f32(y, vdupq_n_f32(to.min)), vdupq_n_f32(to.max)));
}

KERNELS_ALWAYS_INLINE inline Bytes narrow(const Ints (&x)[4]) {
  const int16x8_t low = vcombine_s16(vmovn_s32(x[0]), vmovn_s32(x[1]));
  const int16x8_t high = vcombine_s16(vmovn_s32(x[2]), vmovn_s32(x[3]));
  return vreinterpretq_u8_s8(vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
}

KERNELS_ALWAYS_INLINE inline Bytes in_order(Bytes x) { return x; }

#define KERNELS_HAVE_BYTE_TABLES

/// A table of 256 bytes in vectors, for loops over many bytes.
class ByteTable {
 public:
  KERNELS_ALWAYS_INLINE explicit ByteTable(const uint8_t* bytes)
      : quarters_{vld1q_u8_x4(bytes), vld1q_u8_x4(bytes + 64), vld1q_u8_x4(bytes + 128), vld1q_u8_x4(bytes + 192)} {}

  KERNELS_ALWAYS_INLINE Bytes operator()(Bytes index) const {
    // A quarter of the table does not change the bytes whose index is outside of the quarter.
    Bytes found = vqtbl4q_u8(quarters_[0], index);
    found = vqtbx4q_u8(found, quarters_[1], veorq_u8(index, vdupq_n_u8(64)));
    found = vqtbx4q_u8(found, quarters_[2], veorq_u8(index, vdupq_n_u8(128)));
    return vqtbx4q_u8(found, quarters_[3], veorq_u8(index, vdupq_n_u8(192)));
  }

 private:
  uint8x16x4_t quarters_[4];
};

#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#define KERNELS_MULTIPLIES_PAIRS
KERNELS_ALWAYS_INLINE inline Vector<float> add_pairs(Vector<float> sums, float pair, Vector<float> pairs) {
  return reinterpret_cast<Vector<float>>(vbfdotq_f32(reinterpret_cast<float32x4_t>(sums),
                                                     reinterpret_cast<bfloat16x8_t>(vdupq_n_f32(pair)),
                                                     reinterpret_cast<bfloat16x8_t>(pairs)));
}
#endif

}  // namespace rules_executorch::kernels::simd
