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

  // A new last dimension has the elements of a slice.
  view = view.unsqueeze(view.rank);
  view.sizes[in.dim()] = size;
  if (in.dim() > 0) {
    view.strides[in.dim()] = view.strides[dim];
    view.sizes[dim] = (length - size) / step + 1;
    // A step beyond the dimension is never taken; as large as it may be, it must not overflow the stride.
    view.strides[dim] *= step <= length ? step : 1;
  }
  return view_copy(ctx, view, out);
}

}  // namespace torch::executor::native
