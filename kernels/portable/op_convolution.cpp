#include <optional>

#include "kernels/convolution/convolution.h"
#include "kernels/gemm/matmul.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& convolution_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                        const std::optional<Tensor>& bias, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                        ArrayRef<int64_t> dilation, bool transposed, ArrayRef<int64_t> output_padding, int64_t groups,
                        Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "convolution.out");

  // Check, resize
  Convolution convolution;
  if (!prepare_convolution(ctx, in, weight, bias, {stride, padding, dilation, output_padding, transposed, groups}, out,
                           convolution)) {
    return out;
  }

  // Compute
  ProductScratch scratch(ctx);
  ET_SWITCH_REAL_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                       [&] { convolve<CTYPE>(convolution, scratch); });
  return out;
}

}  // namespace torch::executor::native
