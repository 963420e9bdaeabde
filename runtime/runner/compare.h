#pragma once

#include <cstddef>

#include "runtime/runner/value.h"

namespace rules_executorch {

struct Tolerance {
  double relative;
  double absolute;
};

// How an output differs from the expected one.
struct Comparison {
  bool comparable = false;    // Same dtype and shape, or both None; all below is 0 otherwise.
  size_t mismatches = 0;      // Elements that differ by more than the tolerance.
  size_t first_mismatch = 0;  // Row-major index of the first of these.
  double max_difference = 0;  // Largest absolute difference; NaN if only one side of a pair is NaN.

  bool equal() const { return comparable && mismatches == 0; }
};

// Compares element by element: floating-point numbers are equal if |actual - expected| <= absolute + relative *
// |expected|, if both are NaN, or the same infinity; all others must be the same. The dim order does not matter.
Comparison Compare(const Value& expected, const Value& actual, const Tolerance& tolerance);

}  // namespace rules_executorch
