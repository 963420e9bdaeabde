#include <algorithm>
#include <cstring>

#include "kernels/gemm/dynamic_product.h"
#include "kernels/gemm/layouts.h"
#include "kernels/math/divide_up.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/quantize/row_quantization.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether the tensors are the weights, scales and offsets of a layer with `k` input features.
bool check_weights(int64_t k, const Tensor& weight, const Tensor& scale, const Tensor& offset) {
  const bool has_nibbles = weight.scalar_type() == ScalarType::Byte;
  const int64_t blocks = divide_up(k, kBytePanelRowMultiple) * (has_nibbles ? 1 : 2);
  const int64_t panels = divide_up(offset.numel(), kBytePanelColumns);
  ET_CHECK_OR_RETURN_FALSE(weight.dim() == 4 && weight.size(0) == panels && weight.size(1) == blocks &&
                               weight.size(2) == kBytePanelColumns && weight.size(3) == kBytePanelDepth,
                           "weights of %d input and %d output features are not packed as (%d, %d, %d, %d): export the "
                           "program with the version of the rules that its kernels come from",
                           static_cast<int>(k), static_cast<int>(offset.numel()), static_cast<int>(panels),
                           static_cast<int>(blocks), static_cast<int>(kBytePanelColumns),
                           static_cast<int>(kBytePanelDepth));
  const bool has_groups =
      scale.dim() == 3 && scale.size(0) == panels && scale.size(2) == kBytePanelColumns &&
      (scale.size(1) == 1 || (scale.size(1) > 1 && k % (scale.size(1) * kBytePanelRowMultiple) == 0));
  ET_CHECK_OR_RETURN_FALSE(has_groups && offset.dim() == 1,
                           "scales do not match groups of a multiple of %d of %d input features, in panels of %d",
                           static_cast<int>(kBytePanelRowMultiple), static_cast<int>(k),
                           static_cast<int>(kBytePanelColumns));
  return true;
}

/// Quantizes `rows` rows of `k` values each to `bytes`. The rest of a row of `row_stride` bytes is 0.
void quantize_rows(const RowQuantization& quantization, const Tensor& in, int64_t rows, int64_t k, int64_t row_stride,
                   RowParameters* parameters, uint8_t* bytes) {
  const auto* const values = static_cast<const char*>(in.const_data_ptr());
  const int64_t in_stride = k * in.element_size();
  parallel_for(0, rows, std::max<int64_t>(kGrain / k, 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      parameters[i] = quantization(in.scalar_type(), values + i * in_stride, k, bytes + i * row_stride);
      std::memset(bytes + i * row_stride + k, 0, row_stride - k);
    }
  });
}

}  // namespace

Tensor& dynamic_linear_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight, const Tensor& scale,
                           const Tensor& offset, const std::optional<Tensor>& bias, bool is_symmetric, double eps,
                           Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "dynamic_linear.out");

  // Check
  const ScalarType type = in.scalar_type();
  ET_KERNEL_CHECK(ctx, isFloatingType(type) && type != ScalarType::Double && in.dim() >= 1, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, scale.scalar_type() == ScalarType::Float && offset.scalar_type() == ScalarType::Float,
                  InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, weight.scalar_type() == ScalarType::Char || weight.scalar_type() == ScalarType::Byte,
                  InvalidArgument, out);
  const int64_t k = in.size(in.dim() - 1);
  const int64_t columns = offset.numel();
  ET_KERNEL_CHECK(ctx, k > 0 && check_weights(k, weight, scale, offset), InvalidArgument, out);
  if (bias.has_value()) {
    ET_KERNEL_CHECK(ctx, bias->scalar_type() == ScalarType::Float || bias->scalar_type() == type, InvalidArgument, out);
    ET_KERNEL_CHECK(ctx, bias->dim() == 1 && bias->numel() == columns, InvalidArgument, out);
  }
  ET_KERNEL_CHECK_MSG(ctx, eps > 0, InvalidArgument, out, "the smallest scale is %f, expected a number above 0", eps);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like_with_last(out, in, columns), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, dynamic_linear_dim_orders_fit(in, weight, scale, offset, bias, out), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Compute: the rows of bytes first, and the biases as floats.
  const int64_t rows = out.numel() / columns;
  const int64_t row_stride = divide_up(k, kBytePanelRowMultiple) * kBytePanelRowMultiple;
  const bool converts_bias = bias.has_value() && bias->scalar_type() != ScalarType::Float;
  const int64_t bias_size = converts_bias ? columns * static_cast<int64_t>(sizeof(float)) : 0;
  const auto memory = ctx.allocate_temp(rows * (row_stride + sizeof(RowParameters)) + bias_size, /*alignment=*/64);
  ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, out,
                      "not enough temporary memory for the quantized input");
  auto* const parameters = static_cast<RowParameters*>(*memory);
  auto* const biases = reinterpret_cast<float*>(parameters + rows);
  auto* const bytes = reinterpret_cast<uint8_t*>(biases) + bias_size;
  if (converts_bias) {
    convert_elements(type, bias->const_data_ptr(), ScalarType::Float, biases, columns);
  }
  const int64_t groups = scale.size(1);
  ET_SWITCH_THREE_TYPES(Float, Half, BFloat16, type, ctx, op_name, CTYPE, [&] {
    quantize_rows({is_symmetric, static_cast<float>(eps)}, in, rows, k, row_stride, parameters, bytes);
    multiply_quantized_rows({bytes, row_stride, parameters, static_cast<const char*>(weight.const_data_ptr()),
                             weight.numel() / weight.size(0), weight.scalar_type() == ScalarType::Byte,
                             scale.const_data_ptr<float>(), offset.const_data_ptr<float>(),
                             converts_bias      ? biases
                             : bias.has_value() ? bias->const_data_ptr<float>()
                                                : nullptr,
                             static_cast<char*>(out.mutable_data_ptr()), type, rows, columns, groups,
                             row_stride / groups});
  });
  return out;
}

}  // namespace torch::executor::native
