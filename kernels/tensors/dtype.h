#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace rules_executorch::kernels {

// Brings ExecuTorch's names into the namespace. Kernels are in torch::executor::native and see the helpers through
// `using namespace rules_executorch::kernels`.
using namespace ::torch::executor;
using ::executorch::runtime::isBarebonesUnsignedType;
using ::executorch::runtime::toComplexType;
using ::executorch::runtime::toRealValueType;

/// Whether all arithmetic kernels support `type`: signed integers of up to 64 bits, Byte, Bool, Half, BFloat16, Float
/// and Double.
inline bool is_supported(ScalarType type) { return ::executorch::runtime::isRealHBBF16Type(type); }

/// Whether kernels that only move elements support `type`: the dtypes of is_supported(), complex numbers, and the
/// unsigned integers of 16, 32 and 64 bits. Some arithmetic kernels support complex numbers, too.
inline bool is_movable(ScalarType type) {
  return is_supported(type) || isComplexType(type) || isBarebonesUnsignedType(type);
}

/// ET_SWITCH_REALB_TYPES and ET_SWITCH_FLOAT_TYPES with complex numbers, except ComplexHalf: kernels compute
/// ComplexHalf in ComplexFloat.
#define KERNELS_SWITCH_REALB_AND_COMPLEX_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...)       \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                                   \
                     ET_INTERNAL_SWITCH_CASE_REAL_TYPES_AND(Bool, CTYPE_ALIAS, __VA_ARGS__) \
                         ET_INTERNAL_SWITCH_CASE_COMPLEX_TYPES(CTYPE_ALIAS, __VA_ARGS__))
#define KERNELS_SWITCH_FLOAT_AND_COMPLEX_TYPES(TYPE, CONTEXT, NAME, CTYPE_ALIAS, ...) \
  ET_INTERNAL_SWITCH(TYPE, CONTEXT, NAME,                                             \
                     ET_INTERNAL_SWITCH_CASE_FLOAT_TYPES(CTYPE_ALIAS, __VA_ARGS__)    \
                         ET_INTERNAL_SWITCH_CASE_COMPLEX_TYPES(CTYPE_ALIAS, __VA_ARGS__))

/// Calls `_(ctype, name)` for the unsigned integers that no arithmetic kernel supports.
#define KERNELS_FORALL_UNSIGNED_TYPES(_) \
  _(uint16_t, UInt16)                    \
  _(uint32_t, UInt32)                    \
  _(uint64_t, UInt64)

/// The dtype for the computation of results of dtype `type`. As in PyTorch, Half and BFloat16 are computed in Float and
/// rounded once, when the result is stored.
inline ScalarType compute_type(ScalarType type) {
  if (type == ScalarType::ComplexHalf) {
    return ScalarType::ComplexFloat;
  }
  return type == ScalarType::Half || type == ScalarType::BFloat16 ? ScalarType::Float : type;
}

/// The dtype of a floating-point function of values of dtype `type`: for integers and Bool, PyTorch's default dtype
/// Float.
inline ScalarType floating_result_type(ScalarType type) {
  return isFloatingType(type) || isComplexType(type) ? type : ScalarType::Float;
}

/// Whether a result of dtype `from` may be stored in a tensor of dtype `to`. As in PyTorch, a result may lose precision
/// (Double to Half) but may not change to a lower kind (Float to Long). False for dtypes that kernels do not support.
inline bool can_store(ScalarType from, ScalarType to) {
  // canCast does not count unsigned integers other than Byte as integers.
  return is_movable(from) && is_movable(to) && canCast(from, to) &&
         !(isFloatingType(from) && isBarebonesUnsignedType(to));
}

/// A floating-point value without its fraction. For NaN and values out of the range of `To`, C++ defines no result; the
/// result is then that of x86 processors, and of PyTorch on them.
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

/// Converts one value as PyTorch's `Tensor.to` does. Integers out of range wrap around.
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
