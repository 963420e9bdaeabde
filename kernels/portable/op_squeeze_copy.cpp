#include "kernels/copy/view_copy.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& squeeze_copy_dims_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> dim_list, Tensor& out) {
  // Check
  DimSet dims;
  ET_KERNEL_CHECK(ctx, dims.insert(dim_list, in.dim()), InvalidArgument, out);

  ConstStridedView view(in);
  for (int64_t d = in.dim() - 1; d >= 0; --d) {
    if (dims.contains(d) && view.sizes[d] == 1) {
      view = view.select(d, 0);
    }
  }
  return view_copy(ctx, view, out);
}

Tensor& squeeze_copy_dim_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, Tensor& out) {
  return squeeze_copy_dims_out(ctx, in, {&dim, 1}, out);
}

}  // namespace torch::executor::native
