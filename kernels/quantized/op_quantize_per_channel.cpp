#include "kernels/quantize/quantization.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& quantize_per_channel_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& scales,
                                 const Tensor& zero_points, int64_t axis, int64_t quant_min, int64_t quant_max,
                                 ScalarType dtype, Tensor& out) {
  // Check
  QuantizationParameters parameters;
  ET_KERNEL_CHECK(ctx, can_quantize(in, quant_min, quant_max, dtype, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() > 0 && normalize_dim(axis, in.dim()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, parameters.init_per_channel(in, axis, scales, zero_points), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  quantize(in, parameters, RoundingOrder::kBeforeZeroPoint, quant_min, quant_max, out);
  return out;
}

}  // namespace torch::executor::native
