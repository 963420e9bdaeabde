#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// An affine function whose rounded and clamped values are a table: `table[x] = clamp(round(x * scale + offset), min,
/// max)`.
struct AffineTable {
  float scale;
  float offset;
  float min;
  float max;
};

/// Finds the affine function of a table of bytes, for x from `first` to `last`. Returns false if there is none, or if
/// each one is so close to the middle of two integers that the rounding of floats matters. A change of scale with a
/// clamp has one.
///
/// Args:
///   table: the results by the bits of x. Results are signed if `is_signed`, as x is.
bool find_affine(const uint8_t* table, bool is_signed, int first, int last, AffineTable& affine);

}  // namespace rules_executorch::kernels
