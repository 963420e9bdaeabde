#include "kernels/quantize/quantization.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& dequantize_per_token_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& scales,
                                 const Tensor& zero_points, int64_t quant_min, int64_t quant_max, ScalarType dtype,
                                 ScalarType output_dtype, Tensor& out) {
  // Check: the range has no effect on dequantization.
  (void)quant_min;
  (void)quant_max;
  QuantizationParameters parameters;
  ET_KERNEL_CHECK(ctx, can_dequantize(in, dtype, output_dtype, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, parameters.init_per_token(in, scales, zero_points), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  dequantize(in, parameters, out);
  return out;
}

}  // namespace torch::executor::native
