#include <algorithm>
#include <optional>

#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The sum of all counts. -1 if a count is negative or the sum is too large for a tensor.
template <typename T>
int64_t total_of(const Tensor& repeats) {
  constexpr int64_t kMax = int64_t{1} << 31;
  const T* const counts = repeats.const_data_ptr<T>();
  int64_t total = 0;
  for (int64_t i = 0; i < repeats.numel(); ++i) {
    const int64_t count = counts[i];
    if (count < 0 || count > kMax || total + count > kMax) {
      return -1;
    }
    total += count;
  }
  return total;
}

/// Writes each index as many times as its count.
template <typename T>
void repeat_indices(const Tensor& repeats, Tensor& out) {
  const T* const counts = repeats.const_data_ptr<T>();
  T* to = out.mutable_data_ptr<T>();
  for (int64_t i = 0; i < repeats.numel(); ++i) {
    to = std::fill_n(to, counts[i], static_cast<T>(i));
  }
}

}  // namespace

Tensor& repeat_interleave_Tensor_out(KernelRuntimeContext& ctx, const Tensor& repeats,
                                     std::optional<int64_t> output_size, Tensor& out) {
  // Check
  const ScalarType type = repeats.scalar_type();
  ET_KERNEL_CHECK(ctx, type == ScalarType::Long || type == ScalarType::Int, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(repeats, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, repeats.dim() == 1, InvalidArgument, out);
  const bool is_long = type == ScalarType::Long;
  const int64_t total = is_long ? total_of<int64_t>(repeats) : total_of<int32_t>(repeats);
  ET_KERNEL_CHECK(ctx, total >= 0 && output_size.value_or(total) == total, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_size(out, {&total, 1}), InvalidArgument, out);

  // Compute
  is_long ? repeat_indices<int64_t>(repeats, out) : repeat_indices<int32_t>(repeats, out);
  return out;
}

}  // namespace torch::executor::native
