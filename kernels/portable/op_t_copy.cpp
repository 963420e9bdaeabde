#include "kernels/copy/view_copy.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& t_copy_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, in.dim() <= 2, InvalidArgument, out);

  const int64_t reversed[] = {1, 0};
  return view_copy(ctx, in.dim() == 2 ? ConstStridedView(in).permute(reversed) : ConstStridedView(in), out);
}

}  // namespace torch::executor::native
