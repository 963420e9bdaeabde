#pragma once

#include <cstdint>
#include <limits>

#include "kernels/math/vectorize.h"
#include "kernels/reduce/lines.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"

namespace rules_executorch::kernels {

/// The largest value of a line. It is subtracted from the values, so that exponentials do not overflow.
template <typename T>
T largest_of(Line<T>& line) {
  LaneReduction<T> max(-std::numeric_limits<T>::infinity());
  const auto larger = [](T a, T b) { return a < b ? b : a; };
  line.read([&](const T* x, int64_t, int64_t n) { max.add(n, x, larger); });
  return max.result(larger);
}

/// Calls `function(line)` for each line of `in` and `out` along `dim`. `function` computes softmax or its logarithm.
template <ET_OPERATOR_NAME_TYPE op_name, typename Function>
Tensor& softmax_lines_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, bool half_to_float, Tensor& out,
                          const Function& function) {
  // Check
  ET_KERNEL_CHECK(ctx, !half_to_float, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()) && isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                        [&] { apply_to_lines<CTYPE>(function, in, dim, out); });
  return out;
}

}  // namespace rules_executorch::kernels
