#include "kernels/common/copy.h"
#include "kernels/common/dims.h"
#include "kernels/common/promotion.h"
#include "kernels/common/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// A tensor of shape [0] concatenates with tensors of any shape.
bool is_skipped(const Tensor& tensor) { return tensor.dim() == 1 && tensor.size(0) == 0; }

/// Resizes `out` to the shape of the tensors concatenated in `dim`, which is made non-negative.
bool resize_to_concatenation(Tensor& out, const TensorList& tensors, int64_t& dim) {
  const Tensor* first = nullptr;
  int64_t length = 0;
  for (const Tensor& tensor : tensors) {
    if (is_skipped(tensor)) {
      continue;
    }
    if (first == nullptr) {
      first = &tensor;
      ET_CHECK_OR_RETURN_FALSE(tensor.dim() > 0, "0-dim tensors cannot be concatenated");
      ET_LOG_AND_RETURN_IF_FALSE(normalize_dim(dim, tensor.dim()));
    }
    ET_LOG_AND_RETURN_IF_FALSE(tensors_have_same_rank(tensor, *first));
    for (int64_t d = 0; d < tensor.dim(); ++d) {
      ET_LOG_AND_RETURN_IF_FALSE(d == dim || tensors_have_same_size_at_dims(tensor, d, *first, d));
    }
    length += tensor.size(dim);
  }
  if (first == nullptr) {
    return resize_like(out, tensors[0]);
  }
  Tensor::SizesType sizes[kTensorDimensionLimit];
  for (int64_t d = 0; d < first->dim(); ++d) {
    sizes[d] = d == dim ? static_cast<Tensor::SizesType>(length) : first->sizes()[d];
  }
  return resize_to(out, {sizes, static_cast<size_t>(first->dim())});
}

}  // namespace

Tensor& cat_out(KernelRuntimeContext& ctx, TensorList tensors, int64_t dim, Tensor& out) {
  // Common dtype
  const ScalarType common_type = result_type(tensors);

  // Check
  ET_KERNEL_CHECK(ctx, tensors.size() > 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_concatenation(out, tensors, dim), InvalidArgument, out);

  // Compute
  const StridedView out_view(out);
  int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    if (!is_skipped(tensor)) {
      copy(ConstStridedView(tensor), out_view.slice(dim, start, tensor.size(dim)));
      start += tensor.size(dim);
    }
  }
  return out;
}

}  // namespace torch::executor::native
