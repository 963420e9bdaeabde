#include "kernels/copy/fill.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& full_out(KernelRuntimeContext& ctx, ArrayRef<int64_t> size, const Scalar& fill_value, Tensor& out) {
  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_size(out, size), InvalidArgument, out);

  // Check
  ET_KERNEL_CHECK(ctx, can_fill(out.scalar_type(), out.numel(), fill_value), InvalidArgument, out);

  // Compute
  fill(StridedView(out), fill_value);
  return out;
}

}  // namespace torch::executor::native
