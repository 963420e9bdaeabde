#pragma once

#include "kernels/tensors/scalar.h"

namespace rules_executorch::kernels {

/// PyTorch's type promotion. Add the operands one by one. Operands have three categories: tensors with dimensions,
/// 0-dim tensors, and Scalars. A lower category changes the result only to a higher kind (bool < integer < float <
/// complex).
class TypePromotion {
 public:
  void add(const Tensor& tensor);
  void add(const Scalar& scalar);
  void add(const ArrayRef<Tensor>& tensors);

  /// The common dtype of all operands. Undefined if there is none or if kernels do not support the dtype of an operand.
  ScalarType result() const;

 private:
  ScalarType dimensioned_ = ScalarType::Undefined;
  ScalarType zero_dim_ = ScalarType::Undefined;
  ScalarType scalar_ = ScalarType::Undefined;
  bool exists_ = true;
};

/// The common dtype of tensors, Scalars and tensor lists, as `torch.result_type`.
template <typename... Operands>
ScalarType result_type(const Operands&... operands) {
  TypePromotion promotion;
  (promotion.add(operands), ...);
  return promotion.result();
}

}  // namespace rules_executorch::kernels
