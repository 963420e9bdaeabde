#include <cmath>
#include <limits>
#include <optional>

#include "kernels/elementwise/random.h"
#include "kernels/math/vectorize.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The largest number of a dtype of floats.
double largest_number(ScalarType type) {
  switch (type) {
    case ScalarType::Half:
      return 65504;
    case ScalarType::BFloat16:
      return static_cast<float>(BFloat16(0x7f7f, BFloat16::from_bits()));
    case ScalarType::Float:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

/// Whether a dtype has both ends of a range and their difference.
bool check_uniform_range(double from, double to, ScalarType type) {
  const double largest = largest_number(type);
  ET_CHECK_OR_RETURN_FALSE(from <= to, "from must not exceed to");
  ET_CHECK_OR_RETURN_FALSE(from >= -largest && to <= largest && to - from <= largest, "the range exceeds dtype %s",
                           toString(type));
  return true;
}

}  // namespace

Tensor& uniform_out(KernelRuntimeContext& ctx, const Tensor& in, double from, double to,
                    std::optional<int64_t> generator, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "uniform.out");

  // Check: a program has no generators.
  (void)generator;
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, check_uniform_range(from, to, in.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  const RandomNumbers numbers;
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    const CTYPE low = static_cast<CTYPE>(from), range = static_cast<CTYPE>(to - from);
    write_random<CTYPE>(out, [&](uint64_t first, int64_t n, CTYPE* values) {
      numbers.uniform(first, n, digits_of(in.scalar_type()), values);
      vectorized_for(n, [values, low, range](int64_t i) { values[i] = values[i] * range + low; });
    });
  });
  return out;
}

Tensor& exponential_out(KernelRuntimeContext& ctx, const Tensor& in, double lambd, std::optional<int64_t> generator,
                        Tensor& out) {
  // Check: a program has no generators.
  (void)generator;
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, lambd > 0, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  const RandomNumbers numbers;
  write_random<double>(out, [&](uint64_t first, int64_t n, double* values) {
    for (int64_t i = 0; i < n; ++i) {
      values[i] = -std::log(numbers.between_0_and_1(first + i)) / lambd;
    }
  });
  return out;
}

}  // namespace torch::executor::native
