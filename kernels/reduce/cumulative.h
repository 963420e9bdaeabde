#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/reduce/lines.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"

namespace rules_executorch::kernels {

/// The totals of each line along `dim`: a total begins with `start`, and `update(total, x)` changes it for each element
/// `x`.
template <ET_OPERATOR_NAME_TYPE op_name, typename Update>
Tensor& cumulative_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, std::optional<ScalarType> dtype,
                       Tensor& out, int start, const Update& update) {
  // Common dtype: as in PyTorch, the dtype of out if `dtype` is missing.
  const ScalarType common_type = dtype.value_or(out.scalar_type());

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()) && is_supported(common_type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, common_type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == common_type, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute: as in PyTorch, totals of floats are doubles.
  ET_SWITCH_REAL_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    using Total = std::conditional_t<std::is_same_v<CTYPE, float>, double, CTYPE>;
    const auto accumulate = [&](Line<CTYPE>& line) {
      auto total = static_cast<Total>(start);
      line.scan([&](CTYPE* results, const CTYPE* x, int64_t, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          update(total, x[i]);
          results[i] = static_cast<CTYPE>(total);
        }
      });
    };
    apply_to_lines<CTYPE>(accumulate, in, dim, out);
  });
  return out;
}

}  // namespace rules_executorch::kernels
