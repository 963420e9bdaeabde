#include "kernels/math/vector_math.h"
#include "kernels/quantize/quantization.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& quantize_per_tensor_out(KernelRuntimeContext& ctx, const Tensor& in, double scale, int64_t zero_point,
                                int64_t quant_min, int64_t quant_max, ScalarType dtype, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, can_quantize(in, quant_min, quant_max, dtype, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute: in Float for all dtypes, as in PyTorch.
  const float inverse_scale = static_cast<float>(1 / scale);
  const float offset = static_cast<float>(zero_point);
  const QuantizedRange<float> range(quant_min, quant_max);
  elementwise_integers<float>([=](float x) { return range.clamp(math::rint(x * inverse_scale) + offset); }, out, in);
  return out;
}

Tensor& quantize_per_tensor_tensor_args_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& scale,
                                            const Tensor& zero_point, int64_t quant_min, int64_t quant_max,
                                            ScalarType dtype, Tensor& out) {
  double scale_value = 0;
  int64_t zero_point_value = 0;
  ET_KERNEL_CHECK(ctx, read_parameters(scale, zero_point, scale_value, zero_point_value), InvalidArgument, out);
  return quantize_per_tensor_out(ctx, in, scale_value, zero_point_value, quant_min, quant_max, dtype, out);
}

}  // namespace torch::executor::native
