#include "kernels/copy/copy.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/promotion.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Resizes `out` to the shape of the tensors with a new dimension `dim`, and makes `dim` non-negative.
bool resize_to_stack(Tensor& out, const TensorList& tensors, int64_t& dim) {
  const Tensor& first = tensors[0];
  ET_LOG_AND_RETURN_IF_FALSE(normalize_dim(dim, first.dim() + 1));
  for (const Tensor& tensor : tensors) {
    ET_LOG_AND_RETURN_IF_FALSE(tensors_have_same_shape(tensor, first));
  }
  Tensor::SizesType sizes[kTensorDimensionLimit + 1];
  for (int64_t d = 0; d <= first.dim(); ++d) {
    sizes[d] = d == dim ? static_cast<Tensor::SizesType>(tensors.size()) : first.sizes()[d < dim ? d : d - 1];
  }
  return resize_to(out, {sizes, static_cast<size_t>(first.dim() + 1)});
}

}  // namespace

Tensor& stack_out(KernelRuntimeContext& ctx, TensorList tensors, int64_t dim, Tensor& out) {
  // Common dtype
  const ScalarType common_type = result_type(tensors);

  // Check
  ET_KERNEL_CHECK(ctx, tensors.size() > 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_stack(out, tensors, dim), InvalidArgument, out);

  // Compute
  concatenate(
      static_cast<int64_t>(tensors.size()),
      [&](int64_t i) { return ConstStridedView(tensors[static_cast<size_t>(i)]).unsqueeze(dim); }, dim,
      StridedView(out));
  return out;
}

}  // namespace torch::executor::native
