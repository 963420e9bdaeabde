#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// A line whose rounded and clamped values are a table: `table[x] = clamp(round(x * scale + offset), min, max)`.
struct TableLine {
  float scale;
  float offset;
  float min;
  float max;
};

/// Finds the line of a table of bytes, for x from `first` to `last`. Returns false if the table has no line, or if each
/// line is so close to the middle of two integers that the rounding of floats matters. A change of scale with a clamp
/// has a line.
///
/// Args:
///   table: the results by the bits of x. Results are signed if `is_signed`, as x is.
bool find_line(const uint8_t* table, bool is_signed, int first, int last, TableLine& line);

}  // namespace rules_executorch::kernels
