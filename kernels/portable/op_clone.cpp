#include "kernels/copy/view_copy.h"
#include "kernels/views/memory_format.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& clone_out(KernelRuntimeContext& ctx, const Tensor& in, std::optional<MemoryFormat> memory_format, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, memory_format_exists(memory_format, in.dim()), InvalidArgument, out);

  return view_copy(ctx, ConstStridedView(in), out);
}

}  // namespace torch::executor::native
