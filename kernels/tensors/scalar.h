#pragma once

#include <cstdint>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The dtype of `scalar` in type promotion: Bool, Long, or PyTorch's default dtype Float.
inline ScalarType scalar_type(const Scalar& scalar) {
  if (scalar.isBoolean()) {
    return ScalarType::Bool;
  }
  return scalar.isFloatingPoint() ? ScalarType::Float : ScalarType::Long;
}

/// The value of `scalar` as a `T`, converted like a 0-dim tensor: integers out of range wrap around.
template <typename T>
inline T scalar_cast(const Scalar& scalar) {
  if (scalar.isBoolean()) {
    return convert_value<T>(scalar.to<bool>());
  }
  if (scalar.isFloatingPoint()) {
    return convert_value<T>(scalar.to<double>());
  }
  return convert_value<T>(scalar.to<int64_t>());
}

/// Whether the value of `scalar` is in the range of dtype `type`. For some arguments (fill, clamp, alpha), PyTorch
/// refuses Scalars out of the range of the tensor's dtype. Fractions are truncated, and negative integers wrap around
/// in unsigned dtypes.
bool scalar_fits(const Scalar& scalar, ScalarType type);

/// Whether `alpha` is a valid factor in a sum of dtype `type`: in the range of the dtype, a Bool only for Bool tensors,
/// and not a floating-point number for integer tensors.
bool alpha_is_valid(const Scalar& alpha, ScalarType type);

}  // namespace rules_executorch::kernels
