#include "kernels/copy/copy.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& view_as_complex_copy_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  // Check
  const ScalarType type = in.scalar_type();
  ET_KERNEL_CHECK(ctx, isFloatingType(type) && type != ScalarType::BFloat16, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == toComplexType(type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() > 0 && in.sizes()[in.dim() - 1] == 2, InvalidArgument, out);

  // Resize
  const ConstStridedView source(in);
  ET_KERNEL_CHECK(ctx, resize_to_shape_of(out, source.select(source.rank - 1, 0)), InvalidArgument, out);

  // Compute: the real and the imaginary part are the last dimension of the input.
  StridedView parts = StridedView(out).unsqueeze(out.dim());
  parts.dtype = type;
  for (int64_t d = 0; d < out.dim(); ++d) {
    parts.strides[d] *= 2;
  }
  parts.sizes[out.dim()] = 2;
  parts.strides[out.dim()] = 1;
  copy(source, parts);
  return out;
}

}  // namespace torch::executor::native
