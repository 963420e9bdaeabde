#include "kernels/quantize/quantized_embedding.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& quantized_embedding_byte_dtype_out(KernelRuntimeContext& ctx, const Tensor& weight, const Tensor& scales,
                                           const std::optional<Tensor>& zero_points, int64_t quant_min,
                                           int64_t quant_max, const Tensor& indices, std::optional<ScalarType> dtype,
                                           Tensor& out) {
  // The range has no effect on dequantization.
  (void)quant_min;
  (void)quant_max;
  return quantized_embedding_out(ctx, PackedWeights::kBytes, weight, scales, zero_points, indices,
                                 dtype.value_or(out.scalar_type()), out);
}

Tensor& quantized_embedding_byte_out(KernelRuntimeContext& ctx, const Tensor& weight, const Tensor& scales,
                                     const std::optional<Tensor>& zero_points, int64_t quant_min, int64_t quant_max,
                                     const Tensor& indices, Tensor& out) {
  return quantized_embedding_byte_dtype_out(ctx, weight, scales, zero_points, quant_min, quant_max, indices,
                                            scales.scalar_type(), out);
}

}  // namespace torch::executor::native
