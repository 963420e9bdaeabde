#include "kernels/copy/copy.h"
#include "kernels/elementwise/unary.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& sign_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "sign.out");
  if (in.scalar_type() == ScalarType::Bool) {
    // Check
    ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

    // Resize
    ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

    // Compute
    copy(in, out);
    return out;
  }
  // The sign of NaN is 0.
  return unary_out<op_name>(ctx, in, out, [](auto x) { return static_cast<decltype(x)>((x > 0) - (x < 0)); });
}

}  // namespace torch::executor::native
