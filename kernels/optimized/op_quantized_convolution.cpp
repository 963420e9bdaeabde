#include <optional>

#include "kernels/convolution/quantized.h"
#include "kernels/gemm/integer_product.h"
#include "kernels/gemm/matmul.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& quantized_convolution_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                                  const Tensor& scale, const Tensor& offset, const std::optional<Tensor>& table,
                                  ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                                  ArrayRef<int64_t> dilation, int64_t groups, int64_t input_zero_point,
                                  int64_t quant_min, int64_t quant_max, ScalarType dtype, Tensor& out) {
  // Check
  QuantizedConvolution convolution;
  const bool is_char = in.scalar_type() == ScalarType::Char;
  ET_KERNEL_CHECK(ctx, is_char || in.scalar_type() == ScalarType::Byte, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, dtype == out.scalar_type() && out.dim() == 4, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, convolution.init(in, scale.numel(), kernel_size, stride, padding, dilation, groups),
                  InvalidArgument, out);
  ET_KERNEL_CHECK_MSG(
      ctx,
      weight.scalar_type() == ScalarType::Char && weight.dim() == 4 &&
          weight.sizes()[0] == convolution.weight_panels() && weight.sizes()[1] == convolution.weight_groups() &&
          weight.sizes()[2] == kPanelColumns && weight.sizes()[3] == kPanelDepth,
      InvalidArgument, out,
      "weights of %d channels are not packed as Char of (%d, %d, %d, %d): export the program with the "
      "version of the rules that its kernels come from",
      static_cast<int>(scale.numel()), static_cast<int>(convolution.weight_panels()),
      static_cast<int>(convolution.weight_groups()), static_cast<int>(kPanelColumns), static_cast<int>(kPanelDepth));
  ET_KERNEL_CHECK(ctx, convolution.conversion.init(scale, offset, table, scale.numel(), quant_min, quant_max, dtype),
                  InvalidArgument, out);
  const int64_t least = is_char ? -128 : 0;
  ET_KERNEL_CHECK(ctx, input_zero_point >= least && input_zero_point <= least + 255, InvalidArgument, out);

  // Resize
  const Tensor::SizesType sizes[] = {in.sizes()[0], static_cast<Tensor::SizesType>(scale.numel()),
                                     static_cast<Tensor::SizesType>(convolution.y.out_size),
                                     static_cast<Tensor::SizesType>(convolution.x.out_size)};
  ET_KERNEL_CHECK(ctx, resize_to(out, {sizes, 4}), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, quantized_convolution_dim_orders_fit(in, weight, scale, offset, table, out), InvalidArgument,
                  out);
  if (out.numel() == 0) {
    return out;
  }

  // Compute
  convolution.in = static_cast<const uint8_t*>(in.const_data_ptr());
  convolution.weight = static_cast<const char*>(weight.const_data_ptr());
  convolution.out = static_cast<char*>(out.mutable_data_ptr());
  convolution.element_size = out.element_size();
  convolution.bits = bits_to_byte(in.scalar_type());
  convolution.zero_point = static_cast<uint8_t>(input_zero_point);
  ProductScratch scratch(ctx);
  const bool has_memory =
      convolution.is_depthwise() ? convolve_depthwise(convolution, scratch) : convolve_rows(convolution, scratch);
  ET_KERNEL_CHECK_MSG(ctx, has_memory, MemoryAllocationFailed, out,
                      "not enough temporary memory for a part of the input");
  return out;
}

}  // namespace torch::executor::native
