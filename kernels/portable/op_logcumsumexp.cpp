#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reduce/lines.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// log(exp(x) + exp(y)) without overflow.
double log_of_sum(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) {
    return x + y;
  }
  const double least = std::min(x, y), largest = std::max(x, y);
  // The difference of equal infinities is NaN.
  return least == largest && std::isinf(least) ? least : std::log1p(std::exp(least - largest)) + largest;
}

template <typename T>
void cumulative_log_of_sum(Line<T>& line) {
  double total = -std::numeric_limits<double>::infinity();
  line.scan([&](T* results, const T* x, int64_t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      total = log_of_sum(x[i], total);
      results[i] = static_cast<T>(total);
    }
  });
}

}  // namespace

Tensor& logcumsumexp_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "logcumsumexp.out");

  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                        [&] { apply_to_lines<CTYPE>(&cumulative_log_of_sum<CTYPE>, in, dim, out); });
  return out;
}

}  // namespace torch::executor::native
