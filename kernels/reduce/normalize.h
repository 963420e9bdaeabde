#pragma once

#include <optional>

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// What a normalization reads and writes. All but `mean` and `rstd` have in's shape: weight and bias are broadcast to
/// it. `mean` and `rstd` have its dimensions before `first_normalized`.
struct Normalization {
  ConstStridedView in;
  ConstStridedView weight;
  ConstStridedView bias;
  StridedView out;
  StridedView mean;
  StridedView rstd;
  int64_t first_normalized;
  double eps;
  char* running_variance = nullptr;  // of rstd's shape and dtype: moved towards the unbiased variance
  double momentum = 0;               // by this share
};

/// An optional parameter, or in place of a missing one `constant`, as a view to broadcast.
inline ConstStridedView parameter_or(const std::optional<Tensor>& parameter, const double& constant) {
  if (parameter.has_value()) {
    return ConstStridedView(*parameter);
  }
  ConstStridedView view;
  view.data = reinterpret_cast<const char*>(&constant);
  view.dtype = ScalarType::Double;
  return view;
}

/// The dtype of the parameters and of the statistics of a normalization of dtype `type`: its own, or Float where Half
/// and BFloat16 come with parameters of Float. Undefined where the parameters have other dtypes.
ScalarType parameter_type(ScalarType type, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias);

/// Subtracts the mean of in's dimensions from `first_normalized` on and divides by their standard deviation, with `eps`
/// added to the variance; then applies weight and bias. Calculates as `T`, float or double.
template <typename T>
void normalize(const Normalization& normalization);

extern template void normalize<float>(const Normalization& normalization);
extern template void normalize<double>(const Normalization& normalization);

}  // namespace rules_executorch::kernels
