#include "kernels/elementwise/elementwise.h"
#include "kernels/math/select.h"
#include "kernels/tensors/resize.h"
#include "kernels/tensors/scalar.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& masked_fill_scalar_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& mask, const Scalar& value,
                               Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "masked_fill.Scalar_out");

  // Check
  ET_KERNEL_CHECK(ctx, mask.scalar_type() == ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, scalar_fits(value, in.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, in, mask), InvalidArgument, out);

  // Compute
  ET_SWITCH_REALHBBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    const CTYPE filling = scalar_cast<CTYPE>(value);
    elementwise([filling](CTYPE x, bool masked) -> CTYPE { return select(masked, filling, x); }, out, in, mask);
  });
  return out;
}

}  // namespace torch::executor::native
