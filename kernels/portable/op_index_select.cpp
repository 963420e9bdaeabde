#include <optional>

#include "kernels/copy/dim_index.h"
#include "kernels/copy/indexed_view.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& index_select_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, const Tensor& index, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, index.dim() <= 1, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() > 0 || index.numel() == 1, InvalidArgument, out);
  const ConstStridedView source = with_dimension(ConstStridedView(in));
  const ConstStridedView positions = with_dimension(ConstStridedView(index));
  ET_KERNEL_CHECK(ctx, positions_exist(positions, source.sizes[dim]), InvalidArgument, out);

  // Resize
  Tensor::SizesType sizes[kTensorDimensionLimit];
  for (int64_t d = 0; d < in.dim(); ++d) {
    sizes[d] = d == dim ? static_cast<Tensor::SizesType>(index.numel()) : in.sizes()[d];
  }
  ET_KERNEL_CHECK(ctx, resize_to(out, {sizes, static_cast<size_t>(in.dim())}), InvalidArgument, out);

  // Compute: copies whole rows, unless the index is along the rows' elements.
  const StridedView target = with_dimension(StridedView(out));
  if (target.strides[dim] != 1) {
    std::optional<Tensor> indices[kTensorDimensionLimit];
    indices[dim] = index;
    IndexedView chosen;
    ET_KERNEL_CHECK(ctx, chosen.init(source, {indices, static_cast<size_t>(dim) + 1}), InvalidArgument, out);
    gather(source, chosen, index.dim() == 0 ? target.select(dim, 0) : target);
    return out;
  }
  ConstStridedView repeated = positions;
  while (repeated.rank < target.rank - dim) {
    repeated = repeated.unsqueeze(repeated.rank);
  }
  gather(source, DimIndex(source, dim, repeated.broadcast_to(target)), target);
  return out;
}

}  // namespace torch::executor::native
