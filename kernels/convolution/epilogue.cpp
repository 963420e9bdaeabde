#include "kernels/convolution/epilogue.h"

#include <limits>

#include "kernels/tensors/resize.h"

namespace rules_executorch::kernels {

bool prepare_images(KernelRuntimeContext& ctx, const Tensor& in, const std::optional<Tensor>& bias,
                    const std::optional<Tensor>& residual, int64_t out_channels, const ImageAxes& axes,
                    std::string_view activation, double minimum, double maximum, Tensor& out, Epilogue& epilogue) {
  // Check
  ET_KERNEL_CHECK(
      ctx,
      !bias.has_value() || (tensors_have_same_dtype(*bias, out) && bias->dim() == 1 && bias->size(0) == out_channels),
      InvalidArgument, false);
  ET_KERNEL_CHECK(ctx, find_activation<float>(activation, minimum, maximum, epilogue.activation), InvalidArgument,
                  false);

  // Resize
  const int64_t image[] = {in.size(0), out_channels, axes.y.out_size, axes.x.out_size};
  const int64_t volume[] = {in.size(0), out_channels, axes.z.out_size, axes.y.out_size, axes.x.out_size};
  ET_KERNEL_CHECK(ctx, in.dim() == 5 ? resize_to_size(out, volume) : resize_to_size(out, image), InvalidArgument,
                  false);
  ET_KERNEL_CHECK_MSG(
      ctx,
      !residual.has_value() || (tensors_have_same_dtype(*residual, out) && tensors_have_same_shape(*residual, out)),
      InvalidArgument, false, "the addend's dtype or shape differs from the result's");

  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool is_clamp = activation == "clamp";
  epilogue.minimum = static_cast<float>(is_clamp ? minimum : -kInfinity);
  epilogue.maximum = static_cast<float>(is_clamp ? maximum : kInfinity);
  if (is_clamp) {
    epilogue.activation.apply = nullptr;
  }
  return true;
}

}  // namespace rules_executorch::kernels
