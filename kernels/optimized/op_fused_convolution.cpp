#include <optional>
#include <string_view>

#include "kernels/convolution/convolution.h"
#include "kernels/gemm/matmul.h"
#include "kernels/math/activation.h"
#include "kernels/optimized/dim_orders.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& fused_convolution_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                              const std::optional<Tensor>& bias, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                              ArrayRef<int64_t> end_padding, ArrayRef<int64_t> dilation, int64_t groups,
                              std::string_view activation, double minimum, double maximum, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "fused_convolution.out");

  // Check, resize
  Convolution convolution;
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, padding.size() == end_padding.size(), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, find_activation<float>(activation, minimum, maximum, convolution.activation), InvalidArgument,
                  out);
  constexpr int64_t kZero[] = {0};
  if (!prepare_convolution(ctx, in, weight, bias,
                           {stride, padding, dilation, {kZero, 1}, /*transposed=*/false, groups, end_padding}, out,
                           convolution)) {
    return out;
  }
  ET_KERNEL_CHECK(ctx, fused_convolution_dim_orders_fit(in, weight, bias, out), InvalidArgument, out);

  // Compute
  ProductScratch scratch(ctx);
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    find_activation<CTYPE>(activation, minimum, maximum, convolution.activation);
    convolve<CTYPE>(convolution, scratch);
  });
  return out;
}

}  // namespace torch::executor::native
