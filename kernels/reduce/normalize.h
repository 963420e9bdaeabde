#pragma once

#include <optional>

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// The operands of a normalization. `weight` and `bias` are broadcast to the shape of `in`, and `out` has this shape.
/// `mean` and `rstd` have the dimensions of `in` before `first_normalized`.
struct Normalization {
  ConstStridedView in;
  ConstStridedView weight;
  ConstStridedView bias;
  StridedView out;
  StridedView mean;
  StridedView rstd;
  int64_t first_normalized;
  double eps;
  char* running_variance = nullptr;  // has the shape and dtype of rstd; updated with the unbiased variance
  double momentum = 0;               // weight of the new variance in the update
};

/// An optional parameter, or `constant` if the parameter is missing, as a view to broadcast.
inline ConstStridedView parameter_or(const std::optional<Tensor>& parameter, const double& constant) {
  if (parameter.has_value()) {
    return ConstStridedView(*parameter);
  }
  ConstStridedView view;
  view.data = reinterpret_cast<const char*>(&constant);
  view.dtype = ScalarType::Double;
  return view;
}

/// The dtype of the parameters and of the statistics of a normalization of dtype `type`: `type`, or Float for Half and
/// BFloat16 with parameters of dtype Float. Undefined if the parameters have other dtypes.
ScalarType parameter_type(ScalarType type, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias);

/// Subtracts the mean over the dimensions of `in` from `first_normalized` on, and divides by sqrt(variance + eps). Then
/// multiplies by the weight and adds the bias. The computation is in `T`, float or double.
template <typename T>
void normalize(const Normalization& normalization);

extern template void normalize<float>(const Normalization& normalization);
extern template void normalize<double>(const Normalization& normalization);

}  // namespace rules_executorch::kernels
