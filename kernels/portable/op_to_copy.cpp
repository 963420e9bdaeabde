#include "kernels/copy/copy.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/memory_format.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& to_copy_out(KernelRuntimeContext& ctx, const Tensor& in, bool non_blocking,
                    std::optional<MemoryFormat> memory_format, Tensor& out) {
  // Check: `non_blocking` has no effect, because the copy is synchronous.
  (void)non_blocking;
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()) && is_movable(out.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, memory_format_exists(memory_format, in.dim()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  copy(in, out);
  return out;
}

}  // namespace torch::executor::native
