#include <algorithm>
#include <optional>

#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Calls `visit(values, start, n)` for blocks of the numbers.
template <typename Visit>
void for_each_block_of_numbers(const Tensor& in, const Visit& visit) {
  const auto* const data = static_cast<const char*>(in.const_data_ptr());
  const auto size = static_cast<int64_t>(in.element_size());
  for (int64_t start = 0; start < in.numel(); start += kBlockSize) {
    int64_t values[kBlockSize];
    const int64_t n = std::min<int64_t>(kBlockSize, in.numel() - start);
    load_block(in.scalar_type(), data + start * size, size, ScalarType::Long, values, n);
    visit(values, start, n);
  }
}

/// Adds the weights of each number, or 1.
template <typename T>
void add_weights(const Tensor& in, const std::optional<Tensor>& weights, Tensor& out) {
  T* const sums = out.mutable_data_ptr<T>();
  std::fill_n(sums, out.numel(), T(0));
  for_each_block_of_numbers(in, [&](const int64_t* values, int64_t start, int64_t n) {
    if (!weights.has_value()) {
      for (int64_t i = 0; i < n; ++i) {
        sums[values[i]] += 1;
      }
      return;
    }
    T added[kBlockSize];
    const auto size = static_cast<int64_t>(weights->element_size());
    const auto* const data = static_cast<const char*>(weights->const_data_ptr()) + start * size;
    load_block(weights->scalar_type(), data, size, CppTypeToScalarType<T>::value, added, n);
    for (int64_t i = 0; i < n; ++i) {
      sums[values[i]] += added[i];
    }
  });
}

}  // namespace

Tensor& bincount_out(KernelRuntimeContext& ctx, const Tensor& in, const std::optional<Tensor>& weights,
                     int64_t minlength, Tensor& out) {
  // Common dtype: as in PyTorch, the counts of no numbers are Long.
  ScalarType type = ScalarType::Long;
  if (weights.has_value()) {
    type = weights->scalar_type() == ScalarType::Float ? ScalarType::Float : ScalarType::Double;
  }
  const bool is_nothing = in.numel() == 0 && out.scalar_type() == ScalarType::Long;

  // Check
  ET_KERNEL_CHECK(ctx, isIntegralType(in.scalar_type(), /*includeBool=*/false) && is_supported(in.scalar_type()),
                  InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, in.dim() == 1 && minlength >= 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == type || is_nothing, InvalidArgument, out);
  if (weights.has_value()) {
    ET_KERNEL_CHECK(ctx, is_supported(weights->scalar_type()) && weights->dim() == 1, InvalidArgument, out);
    ET_KERNEL_CHECK(ctx, weights->numel() == in.numel(), InvalidArgument, out);
  }
  int64_t least = 0, largest = -1;
  for_each_block_of_numbers(in, [&](const int64_t* values, int64_t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      least = std::min(least, values[i]);
      largest = std::max(largest, values[i]);
    }
  });
  ET_KERNEL_CHECK(ctx, least >= 0 && largest < INT32_MAX, InvalidArgument, out);

  // Resize
  const int64_t size = std::max(largest + 1, minlength);
  ET_KERNEL_CHECK(ctx, resize_to_size(out, {&size, 1}), InvalidArgument, out);

  // Compute
  switch (out.scalar_type()) {
    case ScalarType::Long:
      add_weights<int64_t>(in, weights, out);
      break;
    case ScalarType::Float:
      add_weights<float>(in, weights, out);
      break;
    default:
      add_weights<double>(in, weights, out);
  }
  return out;
}

}  // namespace torch::executor::native
