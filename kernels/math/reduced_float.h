#pragma once

#include <cstdint>

#include "kernels/math/bits.h"

namespace rules_executorch::kernels {

/// Conversions between float and the bits of the 16-bit floating-point dtypes. They round to nearest even. Compilers
/// vectorize them: each function computes the results of all cases and selects one.

inline float half_to_float(uint16_t value) {
  const uint32_t magnitude = value & 0x7fffu;
  // After the shift, the exponent is too small by 112, the difference of the biases. This is also true of subnormals.
  const uint32_t finite = to_bits(float_of(magnitude << 13) * 0x1p112f);
  const uint32_t infinite_or_nan = 0x7f800000u | (magnitude << 13);
  return float_of(((value & 0x8000u) << 16) | (magnitude >= 0x7c00u ? infinite_or_nan : finite));
}

inline float bfloat16_to_float(uint16_t value) { return float_of(static_cast<uint32_t>(value) << 16); }

inline uint16_t float_to_half(float value) {
  const uint32_t bits = to_bits(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Adds half a unit in the last place, less one if the last bit is even. A carry increments the exponent.
  const uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1) - (112u << 23)) >> 13;
  // The sum with 0.5 has the rounded bits of the subnormal in the last bits of its mantissa.
  const uint32_t subnormal = to_bits(float_of(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t infinite_or_nan = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  const uint32_t finite = magnitude < 113u << 23 ? subnormal : normal;
  const uint32_t result = magnitude >= 143u << 23 ? infinite_or_nan : finite;
  return static_cast<uint16_t>(((bits >> 16) & 0x8000u) | result);
}

inline uint16_t float_to_bfloat16(float value) {
  const uint32_t bits = to_bits(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return static_cast<uint16_t>(is_nan ? 0x7fc0u : rounded);
}

}  // namespace rules_executorch::kernels
