#include "kernels/copy/view_copy.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

void unbind_copy_int_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, TensorList out) {
  // Check
  ET_KERNEL_CHECK(ctx, in.dim() > 0, InvalidArgument, );
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, static_cast<int64_t>(out.size()) == in.sizes()[dim], InvalidArgument, );

  for (size_t i = 0; i < out.size() && ctx.failure_state() == Error::Ok; ++i) {
    Tensor part = out[i];
    view_copy(ctx, ConstStridedView(in).select(dim, static_cast<int64_t>(i)), part);
  }
}

}  // namespace torch::executor::native
