#include <algorithm>
#include <limits>

#include "kernels/copy/copy.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/promotion.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The tensor that determines the shape of the result: the first one with elements, otherwise the first one whose shape
/// is not [0]. Null if there is none.
const Tensor* find_pattern(const TensorList& tensors) {
  const Tensor* pattern = nullptr;
  for (const Tensor& tensor : tensors) {
    if (tensor.numel() > 0) {
      return &tensor;
    }
    if (pattern == nullptr && tensor.dim() != 1) {
      pattern = &tensor;
    }
  }
  return pattern;
}

/// Whether `tensor` has the shape of `pattern` in all dimensions but `dim`.
bool fits(const Tensor& tensor, const Tensor& pattern, int64_t dim) {
  if (tensor.dim() != pattern.dim()) {
    return false;
  }
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (d != dim && tensor.size(d) != pattern.size(d)) {
      return false;
    }
  }
  return true;
}

/// Resizes `out` to the shape of the tensors concatenated along `dim`, and makes `dim` non-negative. Empty tensors may
/// have any shape.
bool resize_to_concatenation(Tensor& out, const TensorList& tensors, const Tensor& pattern, int64_t& dim) {
  ET_CHECK_OR_RETURN_FALSE(pattern.dim() > 0, "cannot concatenate 0-dim tensors");
  ET_LOG_AND_RETURN_IF_FALSE(normalize_dim(dim, pattern.dim()));
  int64_t length = 0;
  for (const Tensor& tensor : tensors) {
    const bool counts = fits(tensor, pattern, dim);
    ET_CHECK_OR_RETURN_FALSE(counts || tensor.numel() == 0, "expected equal shapes except in dimension %d", int(dim));
    length += counts ? tensor.size(dim) : 0;
  }
  ET_CHECK_OR_RETURN_FALSE(length <= std::numeric_limits<Tensor::SizesType>::max(),
                           "the concatenated dimension is too large");
  Tensor::SizesType sizes[kTensorDimensionLimit];
  std::copy(pattern.sizes().begin(), pattern.sizes().end(), sizes);
  sizes[dim] = static_cast<Tensor::SizesType>(length);
  return resize_to(out, {sizes, static_cast<size_t>(pattern.dim())});
}

}  // namespace

Tensor& cat_out(KernelRuntimeContext& ctx, TensorList tensors, int64_t dim, Tensor& out) {
  // Common dtype
  const ScalarType common_type = result_type(tensors);

  // Check
  ET_KERNEL_CHECK(ctx, tensors.size() > 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  const Tensor* const pattern = find_pattern(tensors);
  if (pattern == nullptr) {
    ET_KERNEL_CHECK(ctx, resize_like(out, tensors[0]), InvalidArgument, out);
    return out;
  }
  ET_KERNEL_CHECK(ctx, resize_to_concatenation(out, tensors, *pattern, dim), InvalidArgument, out);

  // Compute
  concatenate(
      static_cast<int64_t>(tensors.size()),
      [&](int64_t i) {
        const Tensor& tensor = tensors[static_cast<size_t>(i)];
        // Empty tensors may have another rank.
        return tensor.numel() > 0 ? ConstStridedView(tensor) : ConstStridedView(*pattern).slice(dim, 0, 0);
      },
      dim, StridedView(out));
  return out;
}

}  // namespace torch::executor::native
