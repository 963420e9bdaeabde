#pragma once

#include "kernels/tensors/scalar.h"

namespace rules_executorch::kernels {

/// PyTorch's type promotion, one operand after the other. Operands are of three categories: tensors with dimensions,
/// 0-dim tensors, and Scalars; a lower category raises the result only to a higher kind (bool < integer < float <
/// complex).
class TypePromotion {
 public:
  void add(const Tensor& tensor);
  void add(const Scalar& scalar);
  void add(const ArrayRef<Tensor>& tensors);

  /// The common dtype of all operands; Undefined where they have none or one of them is of a dtype that kernels do not
  /// handle.
  ScalarType result() const;

 private:
  ScalarType dimensioned_ = ScalarType::Undefined;
  ScalarType zero_dim_ = ScalarType::Undefined;
  ScalarType scalar_ = ScalarType::Undefined;
  bool exists_ = true;
};

/// The common dtype of tensors, Scalars and tensor lists, in PyTorch's `torch.result_type` sense.
template <typename... Operands>
ScalarType result_type(const Operands&... operands) {
  TypePromotion promotion;
  (promotion.add(operands), ...);
  return promotion.result();
}

}  // namespace rules_executorch::kernels
