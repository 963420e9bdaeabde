#include "kernels/copy/fill.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& ones_out(KernelRuntimeContext& ctx, ArrayRef<int64_t> size, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_size(out, size), InvalidArgument, out);

  // Compute
  fill(StridedView(out), Scalar(1));
  return out;
}

}  // namespace torch::executor::native
