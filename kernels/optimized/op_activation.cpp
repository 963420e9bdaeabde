#include "kernels/elementwise/elementwise.h"
#include "kernels/math/activation.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& activation_out(KernelRuntimeContext& ctx, const Tensor& in, std::string_view activation, double minimum,
                       double maximum, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "activation.out");

  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  Activation of_floats;
  ET_KERNEL_CHECK(ctx, find_activation<float>(activation, minimum, maximum, of_floats), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, of_floats.apply != nullptr, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    Activation function;
    find_activation<CTYPE>(activation, minimum, maximum, function);
    elementwise([&function](int64_t n, CTYPE* results, const CTYPE* x) { function(n, results, x); }, out, in);
  });
  return out;
}

}  // namespace torch::executor::native
