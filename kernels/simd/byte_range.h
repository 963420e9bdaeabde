#pragma once

namespace rules_executorch::kernels::simd {

/// Rounds floats from -2^22 to 2^22: the sum of a float and this number has no fractional bits.
inline constexpr float kRoundingShift = 12582912.0f;

/// The range of rounded results.
struct ByteRange {
  float min;
  float max;
};

}  // namespace rules_executorch::kernels::simd
