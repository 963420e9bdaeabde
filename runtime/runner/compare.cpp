#include "runtime/runner/compare.h"

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace rules_executorch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The allowed difference from an expected element:
// `absolute` + `relative` * |expected| + `of_largest` * max(|expected|, `largest`).
struct Allowed {
  double absolute;
  double relative;
  double of_largest = 0;
  double largest = 0;

  double For(double expected) const {
    const double size = std::abs(expected);
    return absolute + relative * size + of_largest * std::max(size, largest);
  }
};

bool Close(double expected, double actual, const Allowed& allowed) {
  if (expected == actual || (std::isnan(expected) && std::isnan(actual))) {
    return true;
  }
  // Without this check, any difference would be within the tolerance of an infinite expected value.
  return std::isfinite(expected) && std::isfinite(actual) && std::abs(actual - expected) <= allowed.For(expected);
}

// The absolute values of the finite elements that are not zero; 0 if there are none.
struct Sizes {
  double largest = 0;
  double median = 0;  // of two medians, the lower one
};

Sizes MeasureSizes(const TensorData& tensor) {
  std::vector<double> sizes;
  sizes.reserve(tensor.layout.numel());
  for (size_t i = 0; i < tensor.layout.numel(); ++i) {
    const double size = std::abs(ElementNumber(tensor, i));
    if (std::isfinite(size) && size > 0) {
      sizes.push_back(size);
    }
  }
  if (sizes.empty()) {
    return {};
  }
  const auto median = sizes.begin() + static_cast<std::ptrdiff_t>((sizes.size() - 1) / 2);
  std::nth_element(sizes.begin(), median, sizes.end());
  return {*std::max_element(median, sizes.end()), *median};
}

// The differences of some elements.
struct Differences {
  double signal = 0;
  double noise = 0;
  double largest = 0;  // NaN if one is NaN

  void Add(double expected, double difference) {
    signal += std::isfinite(expected) ? expected * expected : 0;
    noise += difference * difference;
    if (!(difference <= largest)) {
      largest = std::isnan(largest) ? largest : difference;
    }
  }

  // The signal-to-noise ratio in decibels.
  double Snr() const {
    if (noise == 0) {
      return kInfinity;
    }
    return std::isfinite(noise) && signal > 0 ? 10 * std::log10(signal / noise) : -kInfinity;
  }
};

Comparison CompareTensors(const TensorData& expected, const TensorData& actual, const Tolerance& tolerance) {
  Comparison result;
  if (expected.layout.dtype != actual.layout.dtype || expected.layout.sizes != actual.layout.sizes) {
    return result;
  }
  result.comparable = true;
  const DtypeTolerance* of_dtype = FindTolerance(expected.layout.dtype);
  const bool floating = of_dtype != nullptr;
  const DtypeTolerance by_dtype = floating ? Widen(*of_dtype, tolerance.error_growth) : DtypeTolerance{};
  Allowed allowed = {tolerance.absolute.value_or(Tolerance::kOther), tolerance.relative.value_or(Tolerance::kOther)};
  double outlier = kInfinity;  // elements with a larger absolute value are outliers
  if (floating && tolerance.is_by_dtype()) {
    const Sizes sizes = MeasureSizes(expected);
    outlier = kOutlierMedians * sizes.median;
    allowed = {by_dtype.atol, by_dtype.rtol, by_dtype.of_largest, std::min(sizes.largest, outlier)};
  }
  Differences all, by_ratio;  // `by_ratio` is without the outliers that are close
  const size_t element_size = executorch::runtime::elementSize(expected.layout.dtype);
  for (size_t i = 0; i < expected.layout.numel(); ++i) {
    const size_t at = ElementOffset(expected.layout, i);
    const size_t actual_at = ElementOffset(actual.layout, i);
    const double number = ElementNumber(expected, at);
    const double actual_number = ElementNumber(actual, actual_at);
    // Integers are compared byte by byte, because a double cannot represent the largest integers.
    const bool close = floating ? Close(number, actual_number, allowed)
                                : std::memcmp(expected.bytes.data() + at * element_size,
                                              actual.bytes.data() + actual_at * element_size, element_size) == 0;
    const bool same = number == actual_number || (std::isnan(number) && std::isnan(actual_number));
    const double difference = same ? 0 : std::abs(actual_number - number);
    all.Add(number, difference);
    if (!close || !(std::abs(number) > outlier)) {
      by_ratio.Add(number, difference);
    }
    if (!close && result.mismatches++ == 0) {
      result.first_mismatch = i;
    }
  }
  result.max_difference = all.largest;
  result.snr = all.Snr();
  result.snr_by_dtype = by_ratio.Snr();
  result.close = result.mismatches == 0;
  if (floating && tolerance.is_snr()) {
    result.close = result.snr >= tolerance.least_snr;
  } else if (floating && tolerance.is_by_dtype()) {
    result.close &= result.snr_by_dtype >= by_dtype.least_snr || by_ratio.largest <= by_dtype.atol;
  }
  return result;
}

}  // namespace

const DtypeTolerance* FindTolerance(executorch::aten::ScalarType dtype) {
  const std::string name = DtypeName(dtype);
  const auto* found = std::find_if(std::begin(kTolerances), std::end(kTolerances),
                                   [&](const DtypeTolerance& tolerance) { return tolerance.dtype == name; });
  return found == std::end(kTolerances) ? nullptr : found;
}

DtypeTolerance Widen(const DtypeTolerance& tolerance, double error_growth) {
  DtypeTolerance wide = tolerance;
  const std::string dtype = tolerance.dtype;
  if (dtype == "float32" || dtype == "float64") {
    wide.rtol *= error_growth;
    wide.atol *= error_growth;
    wide.of_largest *= error_growth;
    wide.least_snr -= 20 * std::log10(error_growth);
  }
  return wide;
}

Comparison Compare(const Value& expected, const Value& actual, const Tolerance& tolerance) {
  if (expected && actual) {
    return CompareTensors(*expected, *actual, tolerance);
  }
  Comparison result;
  result.comparable = result.close = expected.has_value() == actual.has_value();
  return result;
}

}  // namespace rules_executorch
