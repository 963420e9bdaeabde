#include <algorithm>
#include <cstdint>

#include "kernels/copy/copy.h"
#include "kernels/images/pixel_blocks.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& pixel_unshuffle_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t factor, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_be_blocks(in, factor), InvalidArgument, out);
  const int64_t last = in.dim() - 1;
  ET_KERNEL_CHECK(ctx, in.sizes()[last - 1] % factor == 0 && in.sizes()[last] % factor == 0, InvalidArgument, out);

  // Resize
  int64_t sizes[kTensorDimensionLimit];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  sizes[last - 2] = in.sizes()[last - 2] * factor * factor;
  sizes[last - 1] = in.sizes()[last - 1] / factor;
  sizes[last] = in.sizes()[last] / factor;
  ET_KERNEL_CHECK(ctx, resize_to_size(out, {sizes, static_cast<size_t>(in.dim())}), InvalidArgument, out);

  // Compute
  if (out.numel() > 0) {
    copy(blocks_of_pixels(ConstStridedView(in), factor), blocks_of_channels(StridedView(out), factor));
  }
  return out;
}

}  // namespace torch::executor::native
