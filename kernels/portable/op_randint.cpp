#include <cmath>
#include <optional>

#include "kernels/elementwise/random.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `value` is in the range of dtype `type`.
bool is_in_range(int64_t value, ScalarType type) {
  switch (type) {
    case ScalarType::Bool:
      return value >= 0 && value <= 1;
    case ScalarType::Byte:
      return value >= 0 && value <= UINT8_MAX;
    case ScalarType::Char:
      return value >= INT8_MIN && value <= INT8_MAX;
    case ScalarType::Short:
      return value >= INT16_MIN && value <= INT16_MAX;
    case ScalarType::Int:
      return value >= INT32_MIN && value <= INT32_MAX;
    case ScalarType::Half:
      return std::abs(static_cast<double>(value)) <= 65504;
    default:
      return true;
  }
}

/// Whether `out` can have integers from `low` to `high` (exclusive).
bool check_range(int64_t low, int64_t high, const Tensor& out) {
  ET_CHECK_OR_RETURN_FALSE(is_supported(out.scalar_type()), "dtype %s is not supported", toString(out.scalar_type()));
  ET_CHECK_OR_RETURN_FALSE(low < high, "low must be less than high");
  ET_CHECK_OR_RETURN_FALSE(is_in_range(low, out.scalar_type()) && is_in_range(high - 1, out.scalar_type()),
                           "the range of integers exceeds dtype %s", toString(out.scalar_type()));
  return true;
}

void draw_integers(int64_t low, int64_t high, Tensor& out) {
  const RandomNumbers numbers;
  const uint64_t count = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  write_random<int64_t>(out, [&](uint64_t first, int64_t n, int64_t* values) {
    for (int64_t i = 0; i < n; ++i) {
      values[i] = static_cast<int64_t>(static_cast<uint64_t>(low) + numbers.below(first + i, count));
    }
  });
}

}  // namespace

Tensor& randint_low_out(KernelRuntimeContext& ctx, int64_t low, int64_t high, ArrayRef<int64_t> size, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, check_range(low, high, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_size(out, size), InvalidArgument, out);

  // Compute
  draw_integers(low, high, out);
  return out;
}

Tensor& randint_out(KernelRuntimeContext& ctx, int64_t high, ArrayRef<int64_t> size, Tensor& out) {
  return randint_low_out(ctx, 0, high, size, out);
}

Tensor& randint_like_low_dtype_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t low, int64_t high,
                                   std::optional<MemoryFormat> memory_format, Tensor& out) {
  // Check: the program plans the memory format of out.
  (void)memory_format;
  ET_KERNEL_CHECK(ctx, check_range(low, high, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  draw_integers(low, high, out);
  return out;
}

Tensor& randint_like_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t high,
                         std::optional<MemoryFormat> memory_format, Tensor& out) {
  return randint_like_low_dtype_out(ctx, in, 0, high, memory_format, out);
}

}  // namespace torch::executor::native
