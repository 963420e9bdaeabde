#include "kernels/copy/copy.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& select_scatter_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& src, int64_t dim, int64_t index,
                           Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(src.scalar_type()) && is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() > 0 && normalize_dim(dim, in.dim()), InvalidArgument, out);
  const int64_t size = in.sizes()[dim];
  ET_KERNEL_CHECK(ctx, index >= -size && index < size, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);
  const StridedView target = StridedView(out).select(dim, index < 0 ? index + size : index);
  const ConstStridedView source(src);
  ET_KERNEL_CHECK(ctx, source.rank == target.rank && broadcasts_to(target, source), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, broadcasts_to(source, target), InvalidArgument, out);

  // Compute
  copy(in, out);
  copy(source, target);
  return out;
}

}  // namespace torch::executor::native
