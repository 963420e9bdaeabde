#include "kernels/common/quantization.h"
#include "kernels/common/resize.h"
#include "kernels/common/vector_math.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& add_bytes_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, double a_scale, double b_scale,
                      double offset, int64_t quant_min, int64_t quant_max, ScalarType dtype, Tensor& out) {
  // Check
  for (const Tensor* const tensor : {&a, &b, static_cast<const Tensor*>(&out)}) {
    ET_KERNEL_CHECK(ctx, tensor->scalar_type() == ScalarType::Byte || tensor->scalar_type() == ScalarType::Char,
                    InvalidArgument, out);
  }
  ET_KERNEL_CHECK(ctx, dtype == out.scalar_type(), InvalidArgument, out);
  const int64_t least = dtype == ScalarType::Char ? -128 : 0;
  ET_KERNEL_CHECK(ctx, quant_min >= least && quant_min <= quant_max && quant_max <= least + 255, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);

  // Compute
  const QuantizedRange<float> range(quant_min, quant_max);
  elementwise_integers<float>(
      [=, a_scale = static_cast<float>(a_scale), b_scale = static_cast<float>(b_scale),
       offset = static_cast<float>(offset)](float x, float y) {
        return math::rint(range.clamp(x * a_scale + y * b_scale + offset));
      },
      out, a, b);
  return out;
}

}  // namespace torch::executor::native
