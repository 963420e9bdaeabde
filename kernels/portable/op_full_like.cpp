#include "kernels/copy/fill.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& full_like_out(KernelRuntimeContext& ctx, const Tensor& in, const Scalar& fill_value,
                      std::optional<MemoryFormat> memory_format, Tensor& out) {
  // Check: the memory format is already determined by the dim order of out.
  (void)memory_format;
  ET_KERNEL_CHECK(ctx, can_fill(out.scalar_type(), in.numel(), fill_value), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  fill(StridedView(out), fill_value);
  return out;
}

}  // namespace torch::executor::native
