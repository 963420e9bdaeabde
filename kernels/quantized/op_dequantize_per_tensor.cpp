#include "kernels/elementwise/elementwise.h"
#include "kernels/quantize/quantization.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <ET_OPERATOR_NAME_TYPE op_name>
Tensor& dequantize_into(KernelRuntimeContext& ctx, const Tensor& in, double scale, int64_t zero_point, ScalarType dtype,
                        std::optional<ScalarType> out_dtype, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, can_dequantize(in, dtype, out_dtype, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(out.scalar_type()), ctx, op_name, CTYPE, [&] {
    const CTYPE factor = static_cast<CTYPE>(scale);
    const CTYPE offset = static_cast<CTYPE>(zero_point);
    elementwise([=](CTYPE q) -> CTYPE { return (q - offset) * factor; }, out, in);
  });
  return out;
}

}  // namespace

// The range has no effect on dequantization.
Tensor& dequantize_per_tensor_out(KernelRuntimeContext& ctx, const Tensor& in, double scale, int64_t zero_point,
                                  int64_t /*quant_min*/, int64_t /*quant_max*/, ScalarType dtype,
                                  std::optional<ScalarType> out_dtype, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "quantized_decomposed::dequantize_per_tensor.out");
  return dequantize_into<op_name>(ctx, in, scale, zero_point, dtype, out_dtype, out);
}

Tensor& dequantize_per_tensor_tensor_args_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& scale,
                                              const Tensor& zero_point, int64_t /*quant_min*/, int64_t /*quant_max*/,
                                              ScalarType dtype, std::optional<ScalarType> out_dtype, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "quantized_decomposed::dequantize_per_tensor.Tensor_out");
  double scale_value = 0;
  int64_t zero_point_value = 0;
  ET_KERNEL_CHECK(ctx, read_parameters(scale, zero_point, scale_value, zero_point_value), InvalidArgument, out);
  return dequantize_into<op_name>(ctx, in, scale_value, zero_point_value, dtype, out_dtype, out);
}

}  // namespace torch::executor::native
