#include <algorithm>
#include <limits>

#include "kernels/copy/copy.h"
#include "kernels/copy/fill.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The numbers of elements to add before and after dimension `d`. `pad` has pairs, the last dimension first. Negative
/// numbers remove elements.
struct Padding {
  int64_t before = 0;
  int64_t after = 0;

  Padding(const ArrayRef<int64_t>& pad, int64_t d, int64_t rank) {
    const size_t pair = static_cast<size_t>(rank - 1 - d);
    if (2 * pair < pad.size()) {
      before = pad[2 * pair];
      after = pad[2 * pair + 1];
    }
  }
};

/// The number of elements of a dimension of `size` elements that are kept.
int64_t kept_size(int64_t size, const Padding& padding) {
  return size + std::min<int64_t>(padding.before, 0) + std::min<int64_t>(padding.after, 0);
}

bool resize_to_padded(Tensor& out, const Tensor& in, const ArrayRef<int64_t>& pad) {
  ET_CHECK_OR_RETURN_FALSE(pad.size() % 2 == 0, "expected pairs of numbers in pad, got %zu numbers", pad.size());
  ET_CHECK_OR_RETURN_FALSE(pad.size() / 2 <= static_cast<size_t>(in.dim()),
                           "pad is for %zu dimensions, the input has only %zd", pad.size() / 2,
                           static_cast<ssize_t>(in.dim()));
  constexpr int64_t kLargest = std::numeric_limits<Tensor::SizesType>::max();
  int64_t sizes[kTensorDimensionLimit];
  for (int64_t d = 0; d < in.dim(); ++d) {
    const Padding padding(pad, d, in.dim());
    const int64_t size = in.sizes()[d];
    for (const int64_t elements : {padding.before, padding.after}) {
      ET_CHECK_OR_RETURN_FALSE(elements >= -kLargest && elements <= kLargest, "padding %lld is out of range",
                               static_cast<long long>(elements));
    }
    ET_CHECK_OR_RETURN_FALSE(kept_size(size, padding) >= 0,
                             "negative padding removes more elements than dimension %d has", int(d));
    sizes[d] = size + padding.before + padding.after;
  }
  return resize_to_size(out, {sizes, static_cast<size_t>(in.dim())});
}

}  // namespace

Tensor& constant_pad_nd_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> pad, const Scalar& value,
                            Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_padded(out, in, pad), InvalidArgument, out);
  const bool only_cuts = std::all_of(pad.begin(), pad.end(), [](int64_t size) { return size <= 0; });
  ET_KERNEL_CHECK(ctx, only_cuts || can_fill(out.scalar_type(), out.numel(), value), InvalidArgument, out);

  // Compute
  ConstStridedView source(in);
  StridedView target(out);
  if (!only_cuts) {
    fill(target, value);
  }
  for (int64_t d = 0; d < in.dim(); ++d) {
    const Padding padding(pad, d, in.dim());
    const int64_t size = kept_size(source.sizes[d], padding);
    source = source.slice(d, std::max<int64_t>(-padding.before, 0), size);
    target = target.slice(d, std::max<int64_t>(padding.before, 0), size);
  }
  copy(source, target);
  return out;
}

}  // namespace torch::executor::native
