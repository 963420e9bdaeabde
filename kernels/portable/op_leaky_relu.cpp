#include "kernels/elementwise/elementwise.h"
#include "kernels/tensors/resize.h"
#include "kernels/tensors/scalar.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& leaky_relu_out(KernelRuntimeContext& ctx, const Tensor& in, const Scalar& negative_slope, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "leaky_relu.out");

  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, scalar_fits(negative_slope, compute_type(in.scalar_type())), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    const CTYPE slope = scalar_cast<CTYPE>(negative_slope);
    elementwise([slope](CTYPE x) -> CTYPE { return x > 0 ? x : x * slope; }, out, in);
  });
  return out;
}

}  // namespace torch::executor::native
