#include <cmath>

#include "kernels/elementwise/elementwise.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& isinf_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == ScalarType::Bool, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute: all dtypes are converted to Double, which keeps infinities.
  elementwise([](double x) -> bool { return std::isinf(x); }, out, in);
  return out;
}

}  // namespace torch::executor::native
