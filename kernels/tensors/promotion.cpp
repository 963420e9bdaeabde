#include "kernels/tensors/promotion.h"

namespace rules_executorch::kernels {
namespace {

/// Undefined if there is no common dtype: UInt16, UInt32 and UInt64 have common dtypes with floating-point dtypes only.
ScalarType promote_within_category(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined) {
    return b;
  }
  if (b == ScalarType::Undefined || a == b) {
    return a;
  }
  if (isBarebonesUnsignedType(a)) {
    return isFloatingType(b) ? b : ScalarType::Undefined;
  }
  if (isBarebonesUnsignedType(b)) {
    return isFloatingType(a) ? a : ScalarType::Undefined;
  }
  return promoteTypes(a, b);
}

ScalarType promote_across_categories(ScalarType higher, ScalarType lower) {
  if (isComplexType(higher)) {
    return higher;
  }
  if (isFloatingType(higher)) {
    return isComplexType(lower) ? toComplexType(higher) : higher;
  }
  if (higher == ScalarType::Bool || isFloatingType(lower) || isComplexType(lower)) {
    return promote_within_category(higher, lower);
  }
  return higher == ScalarType::Undefined ? lower : higher;
}

}  // namespace

void TypePromotion::add(const Tensor& tensor) {
  ScalarType& category = tensor.dim() > 0 ? dimensioned_ : zero_dim_;
  if (is_movable(tensor.scalar_type())) {
    category = promote_within_category(category, tensor.scalar_type());
  }
  if (!is_movable(tensor.scalar_type()) || category == ScalarType::Undefined) {
    exists_ = false;
  }
}

void TypePromotion::add(const Scalar& scalar) { scalar_ = promote_within_category(scalar_, scalar_type(scalar)); }

void TypePromotion::add(const ArrayRef<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    add(tensor);
  }
}

ScalarType TypePromotion::result() const {
  if (!exists_) {
    return ScalarType::Undefined;
  }
  return promote_across_categories(dimensioned_, promote_across_categories(zero_dim_, scalar_));
}

}  // namespace rules_executorch::kernels
