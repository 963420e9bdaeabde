#include "kernels/common/promotion.h"

namespace rules_executorch::kernels {
namespace {

ScalarType promote_within_category(ScalarType a, ScalarType b) {
  if (a == ScalarType::Undefined) {
    return b;
  }
  return b == ScalarType::Undefined ? a : promoteTypes(a, b);
}

ScalarType promote_across_categories(ScalarType higher, ScalarType lower) {
  if (isFloatingType(higher)) {
    return higher;
  }
  if (higher == ScalarType::Bool || isFloatingType(lower)) {
    return promote_within_category(higher, lower);
  }
  return higher == ScalarType::Undefined ? lower : higher;
}

}  // namespace

void TypePromotion::add(const Tensor& tensor) {
  if (!is_supported(tensor.scalar_type())) {
    supported_ = false;
    return;
  }
  ScalarType& category = tensor.dim() > 0 ? dimensioned_ : zero_dim_;
  category = promote_within_category(category, tensor.scalar_type());
}

void TypePromotion::add(const Scalar& scalar) { scalar_ = promote_within_category(scalar_, scalar_type(scalar)); }

void TypePromotion::add(const ArrayRef<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    add(tensor);
  }
}

ScalarType TypePromotion::result() const {
  if (!supported_) {
    return ScalarType::Undefined;
  }
  return promote_across_categories(dimensioned_, promote_across_categories(zero_dim_, scalar_));
}

}  // namespace rules_executorch::kernels
