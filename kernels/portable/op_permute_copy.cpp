#include "kernels/copy/copy.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& permute_copy_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> dims, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, static_cast<ssize_t>(dims.size()) == in.dim(), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, DimSet().insert(dims, in.dim()), InvalidArgument, out);

  // Resize
  int64_t order[kTensorDimensionLimit];
  Tensor::SizesType sizes[kTensorDimensionLimit];
  for (size_t i = 0; i < dims.size(); ++i) {
    order[i] = dims[i] < 0 ? dims[i] + in.dim() : dims[i];
    sizes[i] = in.sizes()[order[i]];
  }
  ET_KERNEL_CHECK(ctx, resize_to(out, {sizes, dims.size()}), InvalidArgument, out);

  // Compute
  copy(ConstStridedView(in).permute(order), StridedView(out));
  return out;
}

}  // namespace torch::executor::native
