#include "kernels/copy/view_copy.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& unsqueeze_copy_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, in.dim() < static_cast<ssize_t>(kTensorDimensionLimit), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim() + 1), InvalidArgument, out);

  return view_copy(ctx, ConstStridedView(in).unsqueeze(dim), out);
}

}  // namespace torch::executor::native
