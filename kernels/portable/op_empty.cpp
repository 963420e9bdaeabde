#include "kernels/tensors/resize.h"
#include "kernels/views/memory_format.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& empty_out(KernelRuntimeContext& ctx, ArrayRef<int64_t> size, std::optional<MemoryFormat> memory_format,
                  Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, memory_format_exists(memory_format, static_cast<int64_t>(size.size())), InvalidArgument, out);

  // Resize: the elements stay uninitialized.
  ET_KERNEL_CHECK(ctx, resize_to_size(out, size), InvalidArgument, out);
  return out;
}

}  // namespace torch::executor::native
