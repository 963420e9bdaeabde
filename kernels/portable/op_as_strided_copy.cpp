#include <optional>

#include "kernels/copy/view_copy.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Sets `view` to the elements of the tensor's memory with `size`, `stride` and `offset`. Returns false if the
/// arguments are invalid or a position is out of range.
bool init_view(const Tensor& in, const ArrayRef<int64_t>& size, const ArrayRef<int64_t>& stride, int64_t offset,
               ConstStridedView& view) {
  ET_CHECK_OR_RETURN_FALSE(size.size() == stride.size() && size.size() <= kTensorDimensionLimit,
                           "invalid numbers of sizes and strides: got %zu and %zu", size.size(), stride.size());
  ET_CHECK_OR_RETURN_FALSE(offset >= 0 && offset <= in.numel(), "offset %lld is out of range",
                           static_cast<long long>(offset));
  view.rank = static_cast<int64_t>(size.size());
  int64_t left = in.numel() - 1 - offset;
  bool is_empty = false;
  for (size_t d = 0; d < size.size(); ++d) {
    ET_CHECK_OR_RETURN_FALSE(size[d] >= 0 && stride[d] >= 0,
                             "expected sizes and strides of at least 0, got a negative number");
    is_empty |= size[d] == 0;
    view.sizes[d] = size[d];
    view.strides[d] = stride[d];
  }
  for (size_t d = 0; d < size.size() && !is_empty; ++d) {
    const int64_t steps = size[d] - 1;
    ET_CHECK_OR_RETURN_FALSE(steps == 0 || stride[d] <= left / steps, "the view ends outside of the input's memory");
    left -= steps * stride[d];
  }
  ET_CHECK_OR_RETURN_FALSE(is_empty || left >= 0, "the offset is outside of the input's memory");
  view.data += offset * view.element_size();
  return true;
}

}  // namespace

Tensor& as_strided_copy_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> size,
                            ArrayRef<int64_t> stride, std::optional<int64_t> storage_offset, Tensor& out) {
  // Check
  ConstStridedView view(in);
  ET_KERNEL_CHECK(ctx, init_view(in, size, stride, storage_offset.value_or(0), view), InvalidArgument, out);

  return view_copy(ctx, view, out);
}

}  // namespace torch::executor::native
