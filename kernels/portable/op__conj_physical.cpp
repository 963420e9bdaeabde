#include "kernels/elementwise/elementwise.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& _conj_physical_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_conj_physical.out");

  // Check
  ET_KERNEL_CHECK(ctx, isComplexType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_COMPLEX_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                          [&] { elementwise([](CTYPE x) -> CTYPE { return {x.real(), -x.imag()}; }, out, in); });
  return out;
}

}  // namespace torch::executor::native
