#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace rules_executorch::kernels {

// ExecuTorch's names. Kernels, which lie in torch::executor::native, see the helpers through
// `using namespace rules_executorch::kernels`.
using namespace ::torch::executor;
using ::executorch::runtime::isBarebonesUnsignedType;
using ::executorch::runtime::toComplexType;
using ::executorch::runtime::toRealValueType;

/// Whether all kernels that calculate handle tensors of `type`: the signed integers up to 64 bits, Byte, Bool, Half,
/// BFloat16, Float and Double.
inline bool is_supported(ScalarType type) { return ::executorch::runtime::isRealHBBF16Type(type); }

/// Whether kernels that take elements to other places handle tensors of `type`: the dtypes to calculate with, complex
/// numbers, which some kernels calculate with as well, and the unsigned integers of 16, 32 and 64 bits.
inline bool is_movable(ScalarType type) {
  return is_supported(type) || isComplexType(type) || isBarebonesUnsignedType(type);
}

/// ET_SWITCH_REALB_TYPES and ET_SWITCH_FLOAT_TYPES with complex numbers, but without ComplexHalf, which is calculated
/// as ComplexFloat.
#define KERNELS_SWITCH_REALB_AND_COMPLEX_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...)       \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                                   \
                     ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND(Bool, CTYPE_ALIAS, __VA_ARGS__) \
                         ET_INTERNAL_SWITCH_CASE_COMPLEX_TYPES(CTYPE_ALIAS, __VA_ARGS__))
#define KERNELS_SWITCH_FLOAT_AND_COMPLEX_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                             \
                     ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES(CTYPE_ALIAS, __VA_ARGS__)    \
                         ET_INTERNAL_SWITCH_CASE_COMPLEX_TYPES(CTYPE_ALIAS, __VA_ARGS__))

/// Calls `_(ctype, name)` for the unsigned integers that no kernel calculates with.
#define KERNELS_FORALL_UNSIGNED_TYPES(_) \
  _(uint16_t, UInt16)                    \
  _(uint32_t, UInt32)                    \
  _(uint64_t, UInt64)

/// The dtype to calculate in where results have dtype `type`: as in PyTorch, Half and BFloat16 calculate in Float and
/// round once, when the result is stored.
inline ScalarType compute_type(ScalarType type) {
  if (type == ScalarType::ComplexHalf) {
    return ScalarType::ComplexFloat;
  }
  return type == ScalarType::Half || type == ScalarType::BFloat16 ? ScalarType::Float : type;
}

/// The dtype of a floating-point function of values of dtype `type`: PyTorch's default dtype for integers and Bool.
inline ScalarType floating_result_type(ScalarType type) {
  return isFloatingType(type) || isComplexType(type) ? type : ScalarType::Float;
}

/// Whether a result of dtype `from` may be stored in a tensor of dtype `to` (no loss of the kind: float to integer is
/// refused, double to half is not). False for dtypes that kernels do not handle.
inline bool can_store(ScalarType from, ScalarType to) {
  // For canCast, the unsigned integers beside Byte are no integers.
  return is_movable(from) && is_movable(to) && canCast(from, to) &&
         !(isFloatingType(from) && isBarebonesUnsignedType(to));
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
