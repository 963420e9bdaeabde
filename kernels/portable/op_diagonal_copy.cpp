#include <algorithm>

#include "kernels/copy/view_copy.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& diagonal_copy_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t offset, int64_t dim1, int64_t dim2,
                          Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, in.dim() >= 2, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim1, in.dim()) && normalize_dim(dim2, in.dim()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, dim1 != dim2, InvalidArgument, out);

  // The two dimensions become one, which is the last dimension.
  ConstStridedView view(in);
  const int64_t rows = view.sizes[dim1];
  const int64_t columns = view.sizes[dim2];
  const int64_t first_row = offset < 0 ? std::min(rows, offset < -rows ? rows : -offset) : 0;
  const int64_t first_column = offset > 0 ? std::min(columns, offset) : 0;
  const int64_t length = std::min(rows - first_row, columns - first_column);
  const int64_t stride = view.strides[dim1] + view.strides[dim2];
  if (length > 0) {
    view.data += (first_row * view.strides[dim1] + first_column * view.strides[dim2]) * view.element_size();
  }
  view = view.select(std::max(dim1, dim2), 0).select(std::min(dim1, dim2), 0).unsqueeze(in.dim() - 2);
  view.sizes[view.rank - 1] = length;
  view.strides[view.rank - 1] = stride;
  return view_copy(ctx, view, out);
}

}  // namespace torch::executor::native
