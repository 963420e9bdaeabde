#include <optional>

#include "kernels/common/convert.h"
#include "kernels/common/resize.h"
#include "kernels/common/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The count at index `i` of `repeats`, of dtype Long or Int.
int64_t count_at(const ConstStridedView& repeats, int64_t i) {
  int64_t count = 0;
  load_block(repeats.dtype, repeats.data + i * repeats.strides[0] * repeats.element_size(), 0, ScalarType::Long, &count,
             1);
  return count;
}

/// The sum of all counts, -1 where one is negative or the sum is too large for a tensor.
int64_t total_of(const ConstStridedView& repeats) {
  constexpr int64_t kMax = int64_t{1} << 31;
  int64_t total = 0;
  for (int64_t i = 0; i < repeats.sizes[0]; ++i) {
    const int64_t count = count_at(repeats, i);
    if (count < 0 || count > kMax || total + count > kMax) {
      return -1;
    }
    total += count;
  }
  return total;
}

}  // namespace

Tensor& repeat_interleave_Tensor_out(KernelRuntimeContext& ctx, const Tensor& repeats,
                                     std::optional<int64_t> output_size, Tensor& out) {
  // Check
  const ScalarType type = repeats.scalar_type();
  ET_KERNEL_CHECK(ctx, type == ScalarType::Long || type == ScalarType::Int, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(repeats, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, repeats.dim() == 1, InvalidArgument, out);
  const ConstStridedView counts(repeats);
  const int64_t total = total_of(counts);
  ET_KERNEL_CHECK(ctx, total >= 0 && output_size.value_or(total) == total, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_size(out, {&total, 1}), InvalidArgument, out);

  // Compute
  const StridedView target(out);
  char* to = target.data;
  for (int64_t i = 0; i < counts.sizes[0]; ++i) {
    for (int64_t left = count_at(counts, i); left > 0; --left) {
      store_block(ScalarType::Long, &i, type, to, target.element_size(), 1);
      to += target.strides[0] * target.element_size();
    }
  }
  return out;
}

}  // namespace torch::executor::native
