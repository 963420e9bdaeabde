#include "kernels/optimized/dim_orders.h"
#include "kernels/reduce/mean.h"
#include "kernels/reduce/reduction.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& image_mean_out(KernelRuntimeContext& ctx, const Tensor& in, bool keepdim, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "image_mean.out");

  // Check
  ET_KERNEL_CHECK(ctx, in.dim() == 4, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  DimSet dims;
  dims.insert(2);
  dims.insert(3);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_reduction(out, in, dims, keepdim), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, image_mean_dim_orders_fit(in, out), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                        [&] { reduce(Mean<CTYPE>{static_cast<CTYPE>(reduced_numel(in, dims))}, in, dims, out); });
  return out;
}

}  // namespace torch::executor::native
