#pragma once

namespace rules_executorch::kernels::simd {

/// Rounds floats from -2^22 to 2^22 to integers: behind the point, a sum with this one has no digits.
inline constexpr float kRoundingShift = 12582912.0f;

/// What rounded results are clamped to.
struct ByteRange {
  float min;
  float max;
};

}  // namespace rules_executorch::kernels::simd
