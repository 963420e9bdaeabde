#include "kernels/elementwise/elementwise.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& complex_out(KernelRuntimeContext& ctx, const Tensor& real, const Tensor& imag, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "complex.out");

  // Check
  const ScalarType type = real.scalar_type();
  ET_KERNEL_CHECK(ctx, isFloatingType(type) && type != ScalarType::BFloat16, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(real, imag), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == toComplexType(type), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, real, imag), InvalidArgument, out);

  // Compute
  ET_SWITCH_COMPLEX_TYPES(compute_type(out.scalar_type()), ctx, op_name, CTYPE, [&] {
    using Part = typename CTYPE::value_type;
    elementwise([](Part re, Part im) -> CTYPE { return {re, im}; }, out, real, imag);
  });
  return out;
}

}  // namespace torch::executor::native
