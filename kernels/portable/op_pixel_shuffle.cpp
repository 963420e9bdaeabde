#include <algorithm>
#include <cstdint>

#include "kernels/common/copy.h"
#include "kernels/common/resize.h"
#include "kernels/common/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// No square of such a factor overflows.
constexpr int64_t kMaxFactor = 1 << 15;

/// Dimension `d` as two: the second one has `size` elements that lie together.
template <typename View>
View split(const View& view, int64_t d, int64_t size) {
  View result = view.unsqueeze(d + 1);
  result.sizes[d] = view.sizes[d] / size;
  result.sizes[d + 1] = size;
  result.strides[d] = view.strides[d] * size;
  result.strides[d + 1] = view.strides[d];
  return result;
}

}  // namespace

Tensor& pixel_shuffle_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t factor, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, in.dim() >= 3, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  const int64_t last = in.dim() - 1;
  ET_KERNEL_CHECK(ctx, factor > 0 && factor <= kMaxFactor, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.sizes()[last - 2] % (factor * factor) == 0, InvalidArgument, out);

  // Resize
  int64_t sizes[kTensorDimensionLimit];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  sizes[last - 2] = in.sizes()[last - 2] / (factor * factor);
  sizes[last - 1] = in.sizes()[last - 1] * factor;
  sizes[last] = in.sizes()[last] * factor;
  ET_KERNEL_CHECK(ctx, resize_to_size(out, {sizes, static_cast<size_t>(in.dim())}), InvalidArgument, out);
  if (out.numel() == 0) {
    return out;
  }

  // Compute: [C, y, x, H, W] of the one is [C, H, y, W, x] of the other.
  const ConstStridedView coarse = split(split(ConstStridedView(in), last - 2, factor), last - 2, factor);
  const StridedView fine = split(split(StridedView(out), last, factor), last - 1, factor);
  int64_t order[kTensorDimensionLimit];
  for (int64_t d = 0; d < fine.rank; ++d) {
    order[d] = d;
  }
  const int64_t first = last - 2;
  for (int64_t k = 0; k < 4; ++k) {
    constexpr int64_t kOrder[] = {1, 3, 0, 2};  // of [H, y, W, x], as [y, x, H, W]
    order[first + 1 + k] = first + 1 + kOrder[k];
  }
  copy(coarse, fine.permute(order));
  return out;
}

}  // namespace torch::executor::native
