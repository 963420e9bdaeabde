#include "kernels/copy/view_copy.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

void split_with_sizes_copy_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> split_sizes, int64_t dim,
                               TensorList out) {
  // Check
  ET_KERNEL_CHECK(ctx, in.dim() > 0, InvalidArgument, );
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, split_sizes.size() == out.size(), InvalidArgument, );
  int64_t left = in.sizes()[dim];
  for (const int64_t size : split_sizes) {
    ET_KERNEL_CHECK(ctx, size >= 0 && size <= left, InvalidArgument, );
    left -= size;
  }
  ET_KERNEL_CHECK(ctx, left == 0, InvalidArgument, );

  int64_t start = 0;
  for (size_t i = 0; i < out.size() && ctx.failure_state() == Error::Ok; ++i) {
    Tensor part = out[i];
    view_copy(ctx, ConstStridedView(in).slice(dim, start, split_sizes[i]), part);
    start += split_sizes[i];
  }
}

}  // namespace torch::executor::native
