#include <algorithm>

#include "kernels/copy/view_copy.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

void split_copy_Tensor_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t split_size, int64_t dim,
                           TensorList out) {
  // Check
  ET_KERNEL_CHECK(ctx, in.dim() > 0, InvalidArgument, );
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, );
  const int64_t size = in.sizes()[dim];
  ET_KERNEL_CHECK(ctx, split_size > 0 || (split_size == 0 && size == 0), InvalidArgument, );
  // An empty dimension has one empty part.
  const int64_t parts = size == 0 ? 1 : (size - 1) / split_size + 1;
  ET_KERNEL_CHECK(ctx, static_cast<int64_t>(out.size()) == parts, InvalidArgument, );

  for (int64_t i = 0; i < parts && ctx.failure_state() == Error::Ok; ++i) {
    Tensor part = out[i];
    const int64_t start = i * split_size;
    view_copy(ctx, ConstStridedView(in).slice(dim, start, std::min(split_size, size - start)), part);
  }
}

}  // namespace torch::executor::native
