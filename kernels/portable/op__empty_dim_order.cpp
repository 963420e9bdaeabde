#include "kernels/tensors/resize.h"
#include "kernels/views/dim_order.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& _empty_dim_order_out(KernelRuntimeContext& ctx, ArrayRef<int64_t> size,
                             std::optional<ArrayRef<int64_t>> dim_order, Tensor& out) {
  // Resize: the elements stay uninitialized.
  ET_KERNEL_CHECK(ctx, resize_to_size(out, size), InvalidArgument, out);

  // Check
  ET_KERNEL_CHECK(ctx, has_dim_order(out, dim_order), InvalidArgument, out);
  return out;
}

}  // namespace torch::executor::native
