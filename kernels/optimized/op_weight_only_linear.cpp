#include "kernels/gemm/weight_only_product.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& weight_only_linear_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight, const Tensor& scale,
                               const std::optional<Tensor>& bias, Tensor& out) {
  // Check
  const ScalarType type = in.scalar_type();
  ET_KERNEL_CHECK(ctx, is_supported(type) && isFloatingType(type) && type != ScalarType::Double, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, scale.scalar_type() == ScalarType::Float, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, weight.scalar_type() == ScalarType::Char || weight.scalar_type() == ScalarType::Byte,
                  InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() >= 1 && weight.dim() == 2 && scale.dim() == 2, InvalidArgument, out);
  const bool has_nibbles = weight.scalar_type() == ScalarType::Byte;
  const int64_t k = in.sizes()[in.dim() - 1];
  const int64_t columns = weight.sizes()[0];
  const int64_t groups = scale.sizes()[1];
  const int64_t multiple = has_nibbles ? kWeightOnlyBlock<4> : groups == 1 ? 1 : kWeightOnlyBlock<8>;
  ET_KERNEL_CHECK_MSG(ctx,
                      weight.sizes()[1] == (has_nibbles ? k / 2 : k) && groups >= 1 && k % (groups * multiple) == 0 &&
                          scale.sizes()[0] == columns,
                      InvalidArgument, out,
                      "weights of (%d, %d) with scales of (%d, %d) do not match %d features in groups of multiples "
                      "of %d: export the program with the version of the rules that its kernels come from",
                      static_cast<int>(columns), static_cast<int>(weight.sizes()[1]),
                      static_cast<int>(scale.sizes()[0]), static_cast<int>(groups), static_cast<int>(k),
                      static_cast<int>(multiple));
  if (bias.has_value()) {
    ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, *bias), InvalidArgument, out);
    ET_KERNEL_CHECK(ctx, bias->dim() == 1 && bias->numel() == columns, InvalidArgument, out);
  }

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like_with_last(out, in, columns), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, weight_only_linear_dim_orders_fit(in, weight, scale, bias, out), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Compute. 16-bit inputs and biases are converted to float.
  const void* values = in.const_data_ptr();
  const void* biases = bias.has_value() ? bias->const_data_ptr() : nullptr;
  if (type != ScalarType::Float) {
    const auto memory = ctx.allocate_temp((in.numel() + columns) * sizeof(float), /*alignment=*/64);
    ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, out,
                        "not enough temporary memory for the input as floats");
    auto* const floats = static_cast<float*>(*memory);
    convert_elements(type, values, ScalarType::Float, floats, in.numel());
    values = floats;
    if (biases != nullptr) {
      convert_elements(type, biases, ScalarType::Float, floats + in.numel(), columns);
      biases = floats + in.numel();
    }
  }
  multiply_by_quantized_weights({static_cast<const float*>(values), static_cast<const char*>(weight.const_data_ptr()),
                                 has_nibbles, scale.const_data_ptr<float>(), static_cast<const float*>(biases),
                                 static_cast<char*>(out.mutable_data_ptr()), type, out.numel() / columns, k, columns,
                                 groups});
  return out;
}

}  // namespace torch::executor::native
