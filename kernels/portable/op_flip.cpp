#include "kernels/copy/mapped_copy.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& flip_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> dims, Tensor& out) {
  // Check
  DimSet flipped;
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, flipped.insert(dims, in.dim()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  const ConstStridedView source(in);
  copy_mapped(source, StridedView(out),
              [&](int64_t d, int64_t i) { return flipped.contains(d) ? source.sizes[d] - 1 - i : i; });
  return out;
}

}  // namespace torch::executor::native
