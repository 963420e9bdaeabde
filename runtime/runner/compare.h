#pragma once

#include <cstddef>

#include "runtime/runner/value.h"

namespace rules_executorch {

// How far an output may be from the expected one.
struct Tolerance {
  double relative;
  double absolute;
  // If more than 0, the tensors of floating-point numbers are judged as a whole: the expected numbers are at least so
  // many decibels stronger than the differences.
  double least_snr = 0;
};

// How an output differs from the expected one.
struct Comparison {
  bool comparable = false;    // Same dtype and shape, or both None; all below is 0 otherwise.
  bool close = false;         // Within the tolerance.
  size_t mismatches = 0;      // Elements that differ by more than the tolerance allows of each.
  size_t first_mismatch = 0;  // Row-major index of the first of these.
  double max_difference = 0;  // Largest absolute difference; NaN if only one side of a pair is NaN.
  double snr = 0;             // Signal-to-noise ratio in decibels; infinite if nothing differs.
};

// Compares element by element: floating-point numbers are close if |actual - expected| <= absolute + relative *
// |expected|, if both are NaN, or the same infinity; all others must be the same. With a least SNR, a tensor of
// floating-point numbers is close if its ratio is no smaller. The dim order does not matter.
Comparison Compare(const Value& expected, const Value& actual, const Tolerance& tolerance);

}  // namespace rules_executorch
