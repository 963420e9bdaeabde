#pragma once

#include <cstddef>
#include <optional>

#include "runtime/runner/value.h"
#include "runtime/tolerances/tolerances.h"

namespace rules_executorch {

// The tolerance for outputs of floats that is asked for. Without any value, kTolerances has the tolerance of each
// dtype.
struct Tolerance {
  // The value of `relative` if only `absolute` is given, and the reverse.
  static constexpr double kOther = 1e-5;

  std::optional<double> relative;
  std::optional<double> absolute;
  // If greater than 0, tensors are compared as a whole: the signal-to-noise ratio must be at least this number of
  // decibels.
  double least_snr = 0;
  // The factor by which the rounding errors of the program exceed those of PyTorch. Without any of the values above,
  // outputs in float32 and float64 may differ by as much more.
  double error_growth = 1;

  bool is_snr() const { return least_snr > 0; }
  bool is_by_dtype() const { return !is_snr() && !relative && !absolute; }
};

// The entry of kTolerances for a dtype. Null if elements of the dtype must be equal.
const DtypeTolerance* FindTolerance(executorch::aten::ScalarType dtype);

// An entry of kTolerances for a program with larger rounding errors. The entries of smaller dtypes stay the same: the
// rounding of their own elements is larger.
DtypeTolerance Widen(const DtypeTolerance& tolerance, double error_growth);

// The difference between an output and the expected one.
struct Comparison {
  bool comparable = false;    // same dtype and shape, or both None; otherwise, the fields below are 0
  bool close = false;         // within the tolerance
  size_t mismatches = 0;      // elements that differ by more than the tolerance for one element
  size_t first_mismatch = 0;  // row-major index of the first mismatch
  double max_difference = 0;  // largest absolute difference; NaN if only one element of a pair is NaN
  double snr = 0;             // signal-to-noise ratio in decibels; infinite if nothing differs
  double snr_by_dtype = 0;    // with the tolerance by dtype: the ratio without the outliers that are close; else: snr
};

// Compares element by element. Floating-point numbers are close if both are NaN, if both are the same infinity, or if
// |actual - expected| <= absolute + relative * |expected|. With the tolerance by dtype,
// of_largest * max(|expected|, largest) is added to the right side. `largest` is the largest finite |expected|, but at
// most kOutlierMedians times the median of the finite |expected| that are not zero; of two medians, the lower one
// counts. Elements above so many medians are outliers. The tensor is close only if, without the outliers, its
// signal-to-noise ratio is at least least_snr, or no element differs by more than `absolute`. With a least SNR, a
// floating-point tensor is close if its ratio, outliers included, is at least this value. All other elements must be
// equal. The dim order is ignored.
Comparison Compare(const Value& expected, const Value& actual, const Tolerance& tolerance);

}  // namespace rules_executorch
