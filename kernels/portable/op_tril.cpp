#include <algorithm>

#include "kernels/copy/copy.h"
#include "kernels/copy/fill.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& tril_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t diagonal, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, in.dim() >= 2, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute: one row of all matrices at a time.
  const ConstStridedView source(in);
  const StridedView target(out);
  const int64_t row_dim = source.rank - 2;
  const int64_t rows = source.sizes[row_dim];
  const int64_t columns = source.sizes[row_dim + 1];
  const int64_t bounded = std::clamp(diagonal, -rows, columns);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t kept = std::clamp<int64_t>(i + bounded + 1, 0, columns);
    const ConstStridedView from = source.select(row_dim, i);
    const StridedView to = target.select(row_dim, i);
    copy(from.slice(row_dim, 0, kept), to.slice(row_dim, 0, kept));
    fill(to.slice(row_dim, kept, columns - kept), Scalar(0));
  }
  return out;
}

}  // namespace torch::executor::native
