#include <algorithm>
#include <optional>

#include "kernels/copy/copy.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& slice_scatter_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& src, int64_t dim,
                          std::optional<int64_t> start, std::optional<int64_t> end, int64_t step, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(src.scalar_type()) && is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() > 0 && normalize_dim(dim, in.dim()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, step > 0, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);
  const int64_t size = in.sizes()[dim];
  const int64_t first = clamp_bound(start.value_or(0), size);
  const int64_t span = clamp_bound(end.value_or(size), size) - first;
  const int64_t length = span > 0 ? (span - 1) / step + 1 : 0;
  const StridedView target = StridedView(out).slice(dim, first, length, std::min(step, size + 1));
  const ConstStridedView source(src);
  ET_KERNEL_CHECK(ctx, source.rank == target.rank && broadcasts_to(target, source), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, broadcasts_to(source, target), InvalidArgument, out);

  // Compute
  copy(in, out);
  copy(source, target);
  return out;
}

}  // namespace torch::executor::native
