#pragma once

#include <cstddef>

#include "runtime/runner/value.h"

namespace rules_executorch {

// The tolerance for an output.
struct Tolerance {
  double relative;
  double absolute;
  // If greater than 0, floating-point tensors are compared as a whole: the signal-to-noise ratio must be at least this
  // number of decibels.
  double least_snr = 0;
};

// The difference between an output and the expected one.
struct Comparison {
  bool comparable = false;    // same dtype and shape, or both None; otherwise, the fields below are 0
  bool close = false;         // within the tolerance
  size_t mismatches = 0;      // elements that differ by more than the tolerance for one element
  size_t first_mismatch = 0;  // row-major index of the first mismatch
  double max_difference = 0;  // largest absolute difference; NaN if only one element of a pair is NaN
  double snr = 0;             // signal-to-noise ratio in decibels; infinite if nothing differs
};

// Compares element by element. Floating-point numbers are close if |actual - expected| <= absolute + relative *
// |expected|, if both are NaN, or if both are the same infinity. All other elements must be equal. With a least SNR, a
// floating-point tensor is close if its ratio is at least this value. The dim order is ignored.
Comparison Compare(const Value& expected, const Value& actual, const Tolerance& tolerance);

}  // namespace rules_executorch
