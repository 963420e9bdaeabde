#include "kernels/images/padding.h"

#include <algorithm>
#include <limits>

#include "kernels/copy/mapped_copy.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {
namespace {

/// With this limit, the sum of two paddings does not overflow.
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max() / 4;

bool resize_to_padded(Tensor& out, const Tensor& in, const ArrayRef<int64_t>& padding, int64_t rank, PaddingMode mode) {
  ET_CHECK_OR_RETURN_FALSE(static_cast<int64_t>(padding.size()) == 2 * rank,
                           "expected two paddings for each dimension, got %zu paddings for %d dimensions",
                           padding.size(), int(rank));
  ET_CHECK_OR_RETURN_FALSE(in.dim() == rank + 1 || in.dim() == rank + 2,
                           "the input has %zd dimensions, which is not 1 or 2 more than the %d padded dimensions",
                           static_cast<ssize_t>(in.dim()), int(rank));
  int64_t sizes[kTensorDimensionLimit];
  bool something_is_left = false;
  for (int64_t d = 0; d < in.dim(); ++d) {
    const int64_t size = in.sizes()[d];
    sizes[d] = size;
    // Only the batch may be empty.
    ET_CHECK_OR_RETURN_FALSE(size > 0 || (d == 0 && in.dim() == rank + 2), "expected a non-empty dimension %d", int(d));
    const int64_t pair = in.dim() - 1 - d;
    if (pair >= rank) {
      continue;
    }
    // A negative padding may remove more elements than there are if the other padding adds enough.
    const int64_t largest = mode == PaddingMode::kReflection ? size - 1 : kLargest;
    for (const int64_t pad : {padding[2 * pair], padding[2 * pair + 1]}) {
      ET_CHECK_OR_RETURN_FALSE(pad >= -kLargest && pad <= largest,
                               "padding %lld is out of range for a dimension of size %lld", static_cast<long long>(pad),
                               static_cast<long long>(size));
      sizes[d] += pad;
    }
    ET_CHECK_OR_RETURN_FALSE(sizes[d] >= 0, "negative padding removes more elements than dimension %d has", int(d));
    something_is_left |= sizes[d] > 0;
  }
  ET_CHECK_OR_RETURN_FALSE(something_is_left, "the padded dimensions of the result are empty");
  return resize_to_size(out, {sizes, static_cast<size_t>(in.dim())});
}

}  // namespace

Tensor& pad_out(KernelRuntimeContext& ctx, const Tensor& in, const ArrayRef<int64_t>& padding, int64_t rank,
                PaddingMode mode, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_movable(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_padded(out, in, padding, rank, mode), InvalidArgument, out);

  // Compute
  const ConstStridedView source(in);
  copy_mapped(source, StridedView(out), [&](int64_t d, int64_t i) {
    const int64_t pair = source.rank - 1 - d;
    const int64_t position = pair < rank ? i - padding[2 * pair] : i;
    const int64_t end = source.sizes[d] - 1;
    if (mode == PaddingMode::kReplication) {
      return std::clamp<int64_t>(position, 0, end);
    }
    const int64_t from_begin = position < 0 ? -position : position;
    return from_begin > end ? 2 * end - from_begin : from_begin;
  });
  return out;
}

}  // namespace rules_executorch::kernels
