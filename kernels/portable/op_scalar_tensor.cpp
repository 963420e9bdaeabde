#include "kernels/copy/fill.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& scalar_tensor_out(KernelRuntimeContext& ctx, const Scalar& value, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, can_fill(out.scalar_type(), 1, value), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to(out, {}), InvalidArgument, out);

  // Compute
  fill(StridedView(out), value);
  return out;
}

}  // namespace torch::executor::native
