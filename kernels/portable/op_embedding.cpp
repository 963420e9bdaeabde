#include "kernels/copy/indexed_view.h"
#include "kernels/views/view_shape.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename Index>
bool indices_exist(const Tensor& indices, int64_t size) {
  const Index* const data = indices.const_data_ptr<Index>();
  for (ssize_t i = 0; i < indices.numel(); ++i) {
    ET_CHECK_OR_RETURN_FALSE(data[i] >= 0 && data[i] < size, "index %lld is out of bounds for %lld embeddings",
                             static_cast<long long>(data[i]), static_cast<long long>(size));
  }
  return true;
}

}  // namespace

Tensor& embedding_out(KernelRuntimeContext& ctx, const Tensor& weight, const Tensor& indices, int64_t padding_idx,
                      bool scale_grad_by_freq, bool sparse, Tensor& out) {
  // Check: these arguments only affect gradients.
  (void)padding_idx;
  (void)scale_grad_by_freq;
  (void)sparse;
  ET_KERNEL_CHECK(ctx, is_movable(weight.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(weight, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, weight.dim() == 2, InvalidArgument, out);
  const int64_t count = weight.sizes()[0];
  const ScalarType type = indices.scalar_type();
  ET_KERNEL_CHECK(ctx, type == ScalarType::Long || type == ScalarType::Int, InvalidArgument, out);
  ET_KERNEL_CHECK(
      ctx, type == ScalarType::Long ? indices_exist<int64_t>(indices, count) : indices_exist<int32_t>(indices, count),
      InvalidArgument, out);
  const std::optional<Tensor> index(indices);
  IndexedView view;
  ET_KERNEL_CHECK(ctx, view.init(ConstStridedView(weight), {&index, 1}), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_shape_of(out, view.shape()), InvalidArgument, out);

  // Compute
  gather(ConstStridedView(weight), view, StridedView(out));
  return out;
}

}  // namespace torch::executor::native
