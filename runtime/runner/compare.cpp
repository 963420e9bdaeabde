#include "runtime/runner/compare.h"

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace rules_executorch {
namespace {

bool Close(double expected, double actual, const Tolerance& tolerance) {
  if (expected == actual || (std::isnan(expected) && std::isnan(actual))) {
    return true;
  }
  // Without this check, any difference would be within the tolerance of an infinite expected value.
  return std::isfinite(expected) && std::isfinite(actual) &&
         std::abs(actual - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

// The ratio of two powers in decibels.
double Decibels(double signal, double noise) {
  if (noise == 0) {
    return std::numeric_limits<double>::infinity();
  }
  return std::isfinite(noise) && signal > 0 ? 10 * std::log10(signal / noise)
                                            : -std::numeric_limits<double>::infinity();
}

Comparison CompareTensors(const TensorData& expected, const TensorData& actual, const Tolerance& tolerance) {
  Comparison result;
  if (expected.layout.dtype != actual.layout.dtype || expected.layout.sizes != actual.layout.sizes) {
    return result;
  }
  result.comparable = true;
  const bool floating = IsFloatingPoint(expected.layout.dtype);
  double signal = 0, noise = 0;
  const size_t element_size = executorch::runtime::elementSize(expected.layout.dtype);
  for (size_t i = 0; i < expected.layout.numel(); ++i) {
    const size_t at = ElementOffset(expected.layout, i);
    const size_t actual_at = ElementOffset(actual.layout, i);
    const double number = ElementNumber(expected, at);
    const double actual_number = ElementNumber(actual, actual_at);
    // Integers are compared byte by byte, because a double cannot represent the largest integers.
    const bool close = floating ? Close(number, actual_number, tolerance)
                                : std::memcmp(expected.bytes.data() + at * element_size,
                                              actual.bytes.data() + actual_at * element_size, element_size) == 0;
    const double difference = std::abs(actual_number - number);
    const bool same = number == actual_number || (std::isnan(number) && std::isnan(actual_number));
    signal += std::isfinite(number) ? number * number : 0;
    noise += same ? 0 : difference * difference;
    if (!same && !(difference <= result.max_difference)) {
      result.max_difference = std::isnan(result.max_difference) ? result.max_difference : difference;
    }
    if (!close && result.mismatches++ == 0) {
      result.first_mismatch = i;
    }
  }
  result.snr = Decibels(signal, noise);
  result.close = floating && tolerance.least_snr > 0 ? result.snr >= tolerance.least_snr : result.mismatches == 0;
  return result;
}

}  // namespace

Comparison Compare(const Value& expected, const Value& actual, const Tolerance& tolerance) {
  if (expected && actual) {
    return CompareTensors(*expected, *actual, tolerance);
  }
  Comparison result;
  result.comparable = result.close = expected.has_value() == actual.has_value();
  return result;
}

}  // namespace rules_executorch
