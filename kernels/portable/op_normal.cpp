#include <algorithm>
#include <optional>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/random.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether all elements are at least 0, and none is NaN.
bool are_deviations(const Tensor& tensor) {
  const auto* const data = static_cast<const char*>(tensor.const_data_ptr());
  const auto size = static_cast<int64_t>(tensor.element_size());
  for (int64_t start = 0; start < tensor.numel(); start += kBlockSize) {
    double values[kBlockSize];
    const int64_t n = std::min<int64_t>(kBlockSize, tensor.numel() - start);
    load_block(tensor.scalar_type(), data + start * size, size, ScalarType::Double, values, n);
    ET_CHECK_OR_RETURN_FALSE(std::all_of(values, values + n, [](double value) { return value >= 0; }),
                             "a standard deviation is negative or NaN");
  }
  return true;
}

}  // namespace

Tensor& normal_Tensor_Tensor_out(KernelRuntimeContext& ctx, const Tensor& mean, const Tensor& std,
                                 std::optional<int64_t> generator, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "normal.Tensor_Tensor_out");

  // Check: a program has no generators.
  (void)generator;
  ET_KERNEL_CHECK(ctx, isFloatingType(mean.scalar_type()) && is_supported(std.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, isFloatingType(out.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, are_deviations(std), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, mean, std), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(out.scalar_type()), ctx, op_name, CTYPE, [&] {
    draw_normal<CTYPE>(out);
    elementwise([](CTYPE x, CTYPE m, CTYPE s) -> CTYPE { return m + x * s; }, out, out, mean, std);
  });
  return out;
}

Tensor& normal_Tensor_float_out(KernelRuntimeContext& ctx, const Tensor& mean, double std,
                                std::optional<int64_t> generator, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "normal.Tensor_float_out");

  // Check: a program has no generators.
  (void)generator;
  ET_KERNEL_CHECK(ctx, isFloatingType(mean.scalar_type()) && isFloatingType(out.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, std >= 0, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, mean), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(out.scalar_type()), ctx, op_name, CTYPE, [&] {
    const CTYPE s = static_cast<CTYPE>(std);
    draw_normal<CTYPE>(out);
    elementwise([s](CTYPE x, CTYPE m) -> CTYPE { return m + x * s; }, out, out, mean);
  });
  return out;
}

Tensor& normal_float_Tensor_out(KernelRuntimeContext& ctx, double mean, const Tensor& std,
                                std::optional<int64_t> generator, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "normal.float_Tensor_out");

  // Check: a program has no generators.
  (void)generator;
  ET_KERNEL_CHECK(ctx, isFloatingType(std.scalar_type()) && isFloatingType(out.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, are_deviations(std), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, std), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(out.scalar_type()), ctx, op_name, CTYPE, [&] {
    const CTYPE m = static_cast<CTYPE>(mean);
    draw_normal<CTYPE>(out);
    elementwise([m](CTYPE x, CTYPE s) -> CTYPE { return m + x * s; }, out, out, std);
  });
  return out;
}

Tensor& normal_float_float_out(KernelRuntimeContext& ctx, double mean, double std, ArrayRef<int64_t> size,
                               std::optional<int64_t> generator, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "normal.float_float_out");

  // Check: a program has no generators.
  (void)generator;
  ET_KERNEL_CHECK(ctx, isFloatingType(out.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, std >= 0, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_size(out, size), InvalidArgument, out);

  // Compute
  const RandomNumbers numbers;
  ET_SWITCH_FLOAT_TYPES(compute_type(out.scalar_type()), ctx, op_name, CTYPE, [&] {
    const CTYPE m = static_cast<CTYPE>(mean), s = static_cast<CTYPE>(std);
    write_random<CTYPE>(out, [&](uint64_t first, int64_t n, CTYPE* values) {
      numbers.normal(first, n, values);
      vectorized_for(n, [values, m, s](int64_t i) { values[i] = m + values[i] * s; });
    });
  });
  return out;
}

}  // namespace torch::executor::native
