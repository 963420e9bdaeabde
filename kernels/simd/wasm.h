#pragma once

#include <wasm_simd128.h>

#include <cstdint>

#include "kernels/simd/byte_range.h"
#include "kernels/simd/vector.h"

namespace rules_executorch::kernels::simd {

using Bytes = v128_t;
using Ints = v128_t;
inline constexpr int64_t kByteLanes = 16;

// Products of bytes are products of shorts: of the even bytes of quads, and of the odd bytes.
#define KERNELS_MULTIPLIES_SHORTS

/// The unsigned bytes 0 and 2 of each quad, or 1 and 3, as 16-bit integers.
KERNELS_ALWAYS_INLINE inline Bytes even_bytes(Bytes x) { return wasm_v128_and(x, wasm_i16x8_const_splat(0xFF)); }
KERNELS_ALWAYS_INLINE inline Bytes odd_bytes(Bytes x) { return wasm_u16x8_shr(x, 8); }

/// The same for signed bytes.
KERNELS_ALWAYS_INLINE inline Bytes even_chars(Bytes x) { return wasm_i16x8_shr(wasm_i16x8_shl(x, 8), 8); }
KERNELS_ALWAYS_INLINE inline Bytes odd_chars(Bytes x) { return wasm_i16x8_shr(x, 8); }

/// Adds to each 32-bit sum the products of its two 16-bit integers.
KERNELS_ALWAYS_INLINE inline Ints add_short_products(Ints sums, Bytes x, Bytes weights) {
  return wasm_i32x4_add(sums, wasm_i32x4_dot_i16x8(x, weights));
}

KERNELS_ALWAYS_INLINE inline Ints add_products(Ints sums, Bytes x, Bytes weights) {
  return wasm_i32x4_add(sums, wasm_i32x4_add(wasm_i32x4_dot_i16x8(even_bytes(x), even_chars(weights)),
                                             wasm_i32x4_dot_i16x8(odd_bytes(x), odd_chars(weights))));
}

KERNELS_ALWAYS_INLINE inline void interleave(const Bytes (&rows)[4], Bytes (&quads)[4]) {
  const auto lower = [](Bytes a, Bytes b) {
    return wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  };
  const auto higher = [](Bytes a, Bytes b) {
    return wasm_i8x16_shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  };
  const Bytes low[] = {lower(rows[0], rows[1]), lower(rows[2], rows[3])};
  const Bytes high[] = {higher(rows[0], rows[1]), higher(rows[2], rows[3])};
  quads[0] = wasm_i16x8_shuffle(low[0], low[1], 0, 8, 1, 9, 2, 10, 3, 11);
  quads[1] = wasm_i16x8_shuffle(low[0], low[1], 4, 12, 5, 13, 6, 14, 7, 15);
  quads[2] = wasm_i16x8_shuffle(high[0], high[1], 0, 8, 1, 9, 2, 10, 3, 11);
  quads[3] = wasm_i16x8_shuffle(high[0], high[1], 4, 12, 5, 13, 6, 14, 7, 15);
}

/// The rounded result is in the lowest byte of each float's bits: processors convert to integers in several
/// instructions.
KERNELS_ALWAYS_INLINE inline Ints rounded(Ints sums, const float* scales, const float* offsets, const ByteRange& to) {
  const v128_t products = wasm_f32x4_mul(wasm_f32x4_convert_i32x4(sums), wasm_v128_load(scales));
  const v128_t x = wasm_f32x4_pmax(wasm_f32x4_splat(to.min), wasm_f32x4_add(products, wasm_v128_load(offsets)));
  return wasm_f32x4_add(wasm_f32x4_pmin(wasm_f32x4_splat(to.max), x), wasm_f32x4_const_splat(kRoundingShift));
}

KERNELS_ALWAYS_INLINE inline Bytes narrow(const Ints (&x)[4]) {
  const auto lowest_bytes = [](Ints a, Ints b) {
    const v128_t bits = wasm_i32x4_const_splat(0xFF);
    return wasm_i16x8_narrow_i32x4(wasm_v128_and(a, bits), wasm_v128_and(b, bits));
  };
  return wasm_u8x16_narrow_i16x8(lowest_bytes(x[0], x[1]), lowest_bytes(x[2], x[3]));
}

KERNELS_ALWAYS_INLINE inline Bytes in_order(Bytes x) { return x; }

}  // namespace rules_executorch::kernels::simd
