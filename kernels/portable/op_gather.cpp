#include "kernels/copy/dim_index.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& gather_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, const Tensor& index, bool sparse_grad,
                   Tensor& out) {
  // Check: `sparse_grad` only affects gradients.
  (void)sparse_grad;
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, index), InvalidArgument, out);
  if (index.numel() == 0) {
    return out;
  }
  const ConstStridedView source = with_dimension(ConstStridedView(in));
  const ConstStridedView positions = with_dimension(ConstStridedView(index));
  ET_KERNEL_CHECK(ctx, fits_within(positions, source, dim), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, positions_exist(positions, source.sizes[dim]), InvalidArgument, out);

  // Compute
  gather(source, DimIndex(source, dim, positions), with_dimension(StridedView(out)));
  return out;
}

}  // namespace torch::executor::native
