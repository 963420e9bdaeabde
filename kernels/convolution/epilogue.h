#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/convolution/image_geometry.h"
#include "kernels/math/activation.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// What becomes of sums besides biases and residuals, which are added before: bounds, which tiles keep, and a function.
struct Epilogue {
  float minimum;
  float maximum;
  Activation activation;  // none where its name is "clamp"
};

/// Checks the arguments that packed convolutions of floats have in common and resizes `out`, which is channels-last.
/// False after a failure, which `ctx` knows.
bool prepare_images(KernelRuntimeContext& ctx, const Tensor& in, const std::optional<Tensor>& bias,
                    const std::optional<Tensor>& residual, int64_t out_channels, const ImageAxis& y, const ImageAxis& x,
                    std::string_view activation, double minimum, double maximum, Tensor& out, Epilogue& epilogue);

/// The elements of a tensor; null for none.
template <typename T>
const T* elements_of(const std::optional<Tensor>& tensor) {
  return tensor.has_value() ? static_cast<const T*>(tensor->const_data_ptr()) : nullptr;
}

}  // namespace rules_executorch::kernels
