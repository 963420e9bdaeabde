#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/convolution/image_geometry.h"
#include "kernels/math/activation.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The epilogue of sums, after biases and residuals are added: the bounds, which tiles apply, and an activation.
struct Epilogue {
  float minimum;
  float maximum;
  Activation activation;  // none if its name is "clamp"
};

/// Checks the common arguments of packed float convolutions and resizes `out`. Returns false and sets the error of
/// `ctx` if an argument is invalid. The kernel checks the dim orders.
bool prepare_images(KernelRuntimeContext& ctx, const Tensor& in, const std::optional<Tensor>& bias,
                    const std::optional<Tensor>& residual, int64_t out_channels, const ImageAxes& axes,
                    std::string_view activation, double minimum, double maximum, Tensor& out, Epilogue& epilogue);

/// The elements of a tensor. Null if there is no tensor.
template <typename T>
const T* elements_of(const std::optional<Tensor>& tensor) {
  return tensor.has_value() ? static_cast<const T*>(tensor->const_data_ptr()) : nullptr;
}

}  // namespace rules_executorch::kernels
