#include "kernels/copy/view_copy.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& unfold_copy_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, int64_t size, int64_t step,
                        Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, in.dim() < static_cast<ssize_t>(kTensorDimensionLimit), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);
  ConstStridedView view(in);
  const int64_t length = in.dim() == 0 ? 1 : view.sizes[dim];
  ET_KERNEL_CHECK(ctx, size >= 0 && size <= length, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, step > 0, InvalidArgument, out);

  // The elements of a slice are a new last dimension.
  view = view.unsqueeze(view.rank);
  view.sizes[in.dim()] = size;
  if (in.dim() > 0) {
    view.strides[in.dim()] = view.strides[dim];
    view.sizes[dim] = (length - size) / step + 1;
    // A step larger than the dimension takes a single slice. The stride must not overflow.
    view.strides[dim] *= step <= length ? step : 1;
  }
  return view_copy(ctx, view, out);
}

}  // namespace torch::executor::native
