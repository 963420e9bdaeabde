#include <optional>

#include "kernels/common/convert.h"
#include "kernels/common/convolution.h"
#include "kernels/common/dtype.h"
#include "kernels/common/matmul.h"
#include "kernels/common/resize.h"
#include "kernels/common/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& convolution_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                        const std::optional<Tensor>& bias, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                        ArrayRef<int64_t> dilation, bool transposed, ArrayRef<int64_t> output_padding, int64_t groups,
                        Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "convolution.out");

  // Check
  Convolution convolution;
  ET_KERNEL_CHECK(ctx, ::executorch::runtime::isRealHBF16Type(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, weight, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, convolution.init(in, weight, {stride, padding, dilation, output_padding, transposed, groups}),
                  InvalidArgument, out);
  if (bias.has_value()) {
    ET_KERNEL_CHECK(ctx, ::executorch::runtime::isRealHBF16Type(bias->scalar_type()), InvalidArgument, out);
    ET_KERNEL_CHECK(ctx, bias->dim() == 1 && bias->sizes()[0] == convolution.out_size(1), InvalidArgument, out);
  }
  if (in.sizes()[1] == 0) {
    // PyTorch has no output channels where there are no input channels.
    convolution.out_channels = 0;
  }

  // Resize
  int64_t sizes[kTensorDimensionLimit];
  for (int64_t d = 0; d < in.dim(); ++d) {
    sizes[d] = convolution.out_size(d);
  }
  ET_KERNEL_CHECK(ctx, resize_to_size(out, {sizes, static_cast<size_t>(in.dim())}), InvalidArgument, out);

  // A bias of another dtype becomes one of the input's.
  const void* biases = bias.has_value() ? bias->const_data_ptr() : nullptr;
  if (biases != nullptr && bias->scalar_type() != in.scalar_type()) {
    const auto memory = ctx.allocate_temp(static_cast<size_t>(bias->numel() * in.element_size()));
    ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, out, "no memory for the bias");
    convert_elements(bias->scalar_type(), biases, in.scalar_type(), memory.get(), bias->numel());
    biases = memory.get();
  }

  // Compute
  const ConstStridedView source(in);
  const ConstStridedView weights(weight);
  const StridedView target(out);
  convolution.set_strides(source, weights, target);
  convolution.in = source.data;
  convolution.weight = weights.data;
  convolution.bias = static_cast<const char*>(biases);
  convolution.out = target.data;
  ProductScratch scratch(ctx);
  ET_SWITCH_REAL_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                       [&] { convolve<CTYPE>(convolution, scratch); });
  return out;
}

}  // namespace torch::executor::native
