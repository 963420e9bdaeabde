#include <algorithm>

#include "kernels/math/vector_math.h"
#include "kernels/quantize/quantization.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether the range is within 0 to 255. The operator supports ranges of Byte only, but other dtypes can have such
/// values.
bool is_byte_range(int64_t quant_min, int64_t quant_max) {
  return quant_min >= 0 && quant_min <= quant_max && quant_max <= 255;
}

}  // namespace

Tensor& quantized_add_out(KernelRuntimeContext& ctx, const Tensor& a, double a_scale, int64_t a_zero_point,
                          int64_t a_quant_min, int64_t a_quant_max, const Tensor& b, double b_scale,
                          int64_t b_zero_point, int64_t b_quant_min, int64_t b_quant_max, double out_scale,
                          int64_t out_zero_point, int64_t out_quant_min, int64_t out_quant_max, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_quantized_type(a.scalar_type()) || a.scalar_type() == ScalarType::Long, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(a, b, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_byte_range(a_quant_min, a_quant_max), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_byte_range(b_quant_min, b_quant_max), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_byte_range(out_quant_min, out_quant_max), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);

  // Compute: in Float, as in PyTorch.
  const float a_factor = static_cast<float>(a_scale);
  const float a_offset = static_cast<float>(a_zero_point);
  const float b_factor = static_cast<float>(b_scale);
  const float b_offset = static_cast<float>(b_zero_point);
  const float inverse_scale = static_cast<float>(1 / out_scale);
  const float offset = static_cast<float>(out_zero_point);
  const int64_t largest = out.scalar_type() == ScalarType::Char ? 127 : 255;
  const QuantizedRange<float> range(std::min(out_quant_min, largest), std::min(out_quant_max, largest));
  elementwise_integers<float>(
      [=](float x, float y) {
        const float sum = (x - a_offset) * a_factor + (y - b_offset) * b_factor;
        return range.clamp(math::rint(sum * inverse_scale) + offset);
      },
      out, a, b);
  return out;
}

}  // namespace torch::executor::native
