#include "kernels/copy/copy.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& view_as_real_copy_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, isComplexType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_supported(out.scalar_type()) && isFloatingType(out.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() < static_cast<ssize_t>(kTensorDimensionLimit), InvalidArgument, out);

  // The real and the imaginary part are a new last dimension.
  ConstStridedView parts = ConstStridedView(in).unsqueeze(in.dim());
  parts.dtype = toRealValueType(in.scalar_type());
  for (int64_t d = 0; d < in.dim(); ++d) {
    parts.strides[d] *= 2;
  }
  parts.sizes[in.dim()] = 2;
  parts.strides[in.dim()] = 1;

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_shape_of(out, parts), InvalidArgument, out);

  // Compute
  copy(parts, StridedView(out));
  return out;
}

}  // namespace torch::executor::native
