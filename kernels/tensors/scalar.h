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

/// `scalar`'s value as a `T`, converted as a 0-dim tensor's would be: integers that do not fit wrap around.
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

/// Whether `scalar`'s value is in the range of dtype `type`. PyTorch refuses the others where it takes a Scalar as a
/// value of a tensor's dtype (fill, clamp, alpha). Fractions are cut off; negative integers wrap in unsigned dtypes.
bool scalar_fits(const Scalar& scalar, ScalarType type);

/// Whether a sum of dtype `type` can have `alpha` as a factor: a value of that dtype, a Bool only for Bool tensors, a
/// fraction not for integer tensors.
bool alpha_is_valid(const Scalar& alpha, ScalarType type);

}  // namespace rules_executorch::kernels
