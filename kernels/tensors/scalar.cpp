#include "kernels/tensors/scalar.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace rules_executorch::kernels {
namespace {

template <typename T>
bool fits(int64_t value) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return true;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr auto max = static_cast<int64_t>(std::numeric_limits<T>::max());
    return value <= max && value >= (std::is_unsigned_v<T> ? -max : std::numeric_limits<T>::lowest());
  } else {
    return std::abs(static_cast<double>(value)) <= static_cast<double>(std::numeric_limits<T>::max());
  }
}

template <typename T>
bool fits(double value) {
  if constexpr (std::is_same_v<T, int64_t>) {
    // The upper bound is 2^63, because the largest int64_t, 2^63 - 1, is not representable as a double.
    return value >= -9223372036854775808.0 && value < 9223372036854775808.0;
  } else if constexpr (std::is_integral_v<T>) {
    return value >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
           value <= static_cast<double>(std::numeric_limits<T>::max());
  } else {
    return !std::isfinite(value) || std::abs(value) <= static_cast<double>(std::numeric_limits<T>::max());
  }
}

template <typename T>
bool fits(const Scalar& scalar) {
  if constexpr (std::is_same_v<T, bool>) {
    return true;
  } else {
    return scalar.isFloatingPoint() ? fits<T>(scalar.to<double>()) : fits<T>(scalar_cast<int64_t>(scalar));
  }
}

}  // namespace

bool scalar_fits(const Scalar& scalar, ScalarType type) {
  switch (toRealValueType(type)) {
#define CASE(ctype, name) \
  case ScalarType::name:  \
    return fits<ctype>(scalar);
    ET_FORALL_REAL_TYPES_AND3(Half, Bool, BFloat16, CASE)
    KERNELS_FORALL_UNSIGNED_TYPES(CASE)
#undef CASE
    default:
      return false;
  }
}

bool alpha_is_valid(const Scalar& alpha, ScalarType type) {
  if (alpha.isBoolean() && type != ScalarType::Bool) {
    return false;
  }
  if (alpha.isFloatingPoint() && !isFloatingType(type) && !isComplexType(type)) {
    return false;
  }
  return scalar_fits(alpha, type);
}

}  // namespace rules_executorch::kernels
