#include <utility>

#include "kernels/copy/view_copy.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& transpose_copy_int_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim0, int64_t dim1, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, normalize_dim(dim0, in.dim()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim1, in.dim()), InvalidArgument, out);

  ConstStridedView view(in);
  std::swap(view.sizes[dim0], view.sizes[dim1]);
  std::swap(view.strides[dim0], view.strides[dim1]);
  return view_copy(ctx, view, out);
}

}  // namespace torch::executor::native
