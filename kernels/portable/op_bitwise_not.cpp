#include "kernels/elementwise/elementwise.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& bitwise_not_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "bitwise_not.out");

  // Check
  ET_KERNEL_CHECK(ctx, isIntegralType(in.scalar_type(), /*includeBool=*/true), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute: flips all bits. A Bool has one bit.
  ET_SWITCH_INT_TYPES_AND(Bool, in.scalar_type(), ctx, op_name, CTYPE,
                          [&] { elementwise([](CTYPE x) -> CTYPE { return x ^ static_cast<CTYPE>(-1); }, out, in); });
  return out;
}

}  // namespace torch::executor::native
