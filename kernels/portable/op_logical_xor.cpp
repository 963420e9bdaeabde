#include "kernels/elementwise/elementwise.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& logical_xor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_supported(a.scalar_type()) && is_supported(b.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(ScalarType::Bool, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);

  // Compute: all dtypes are converted to Bool.
  elementwise([](bool x, bool y) -> bool { return x != y; }, out, a, b);
  return out;
}

}  // namespace torch::executor::native
