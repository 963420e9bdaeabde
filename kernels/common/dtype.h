#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace rules_executorch::kernels {

// ExecuTorch's names. Kernels, which lie in torch::executor::native, see the helpers through
// `using namespace rules_executorch::kernels`.
using namespace ::torch::executor;

/// Whether kernels handle tensors of `type`: the integers up to 64 bits, Bool, Half, BFloat16, Float and Double.
inline bool is_supported(ScalarType type) { return ::executorch::runtime::isRealHBBF16Type(type); }

/// The dtype to calculate in where results have dtype `type`: as in PyTorch, Half and BFloat16 calculate in Float and
/// round once, when the result is stored.
inline ScalarType compute_type(ScalarType type) {
  return type == ScalarType::Half || type == ScalarType::BFloat16 ? ScalarType::Float : type;
}

/// The dtype of a floating-point function of values of dtype `type`: PyTorch's default dtype for integers and Bool.
inline ScalarType floating_result_type(ScalarType type) { return isFloatingType(type) ? type : ScalarType::Float; }

/// Whether a result of dtype `from` may be stored in a tensor of dtype `to` (no loss of the kind: float to integer is
/// refused, double to half is not). False for dtypes that kernels do not handle.
inline bool can_store(ScalarType from, ScalarType to) {
  return is_supported(from) && is_supported(to) && canCast(from, to);
}

/// A floating-point value without its fraction. The language defines no result where `To` does not hold the value, NaN
/// among them: then it is the one of x86 processors, and of PyTorch on them.
template <typename To, typename From>
inline To truncate(From value) {
  if constexpr (std::is_same_v<To, int32_t> || std::is_same_v<To, int64_t>) {
    constexpr From kEnd = -static_cast<From>(std::numeric_limits<To>::min());
    return value >= -kEnd && value < kEnd ? static_cast<To>(value) : std::numeric_limits<To>::min();
  } else if constexpr (std::is_same_v<To, uint64_t>) {
    const bool is_above_int64 = value >= static_cast<From>(9223372036854775808.0);
    return is_above_int64 && value < static_cast<From>(18446744073709551616.0)
               ? static_cast<To>(value)
               : static_cast<To>(truncate<int64_t>(value));
  } else {
    return static_cast<To>(truncate<int64_t>(value));
  }
}

/// Converts one value as PyTorch's `Tensor.to` does. Integers that do not fit wrap around.
template <typename To, typename From>
inline To convert_value(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_reduced_floating_point<From>::value) {
    return convert_value<To>(static_cast<float>(value));
  } else if constexpr (is_reduced_floating_point<To>::value) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    return truncate<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace rules_executorch::kernels
