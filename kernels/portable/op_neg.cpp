#include "kernels/common/elementwise.h"
#include "kernels/common/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& neg_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "neg.out");

  // Check
  ET_KERNEL_CHECK(ctx, in.scalar_type() != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(in.scalar_type(), out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_REAL_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                       [&] { elementwise([](CTYPE x) -> CTYPE { return static_cast<CTYPE>(-x); }, out, in); });
  return out;
}

}  // namespace torch::executor::native
