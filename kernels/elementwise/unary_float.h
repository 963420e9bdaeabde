#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/elementwise/elementwise.h"
#include "kernels/math/vectorize.h"
#include "kernels/tensors/resize.h"

namespace rules_executorch::kernels {

/// `out = function(in)` for each element, with a floating-point result. For integers and Bools, the result is Float, as
/// in PyTorch. `function` takes and returns float and double, or is a function of blocks of floats and of doubles (see
/// `elementwise`). Long functions must be KERNELS_ALWAYS_INLINE.
template <ET_OPERATOR_NAME_TYPE op_name, typename Function>
Tensor& unary_float_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out, const Function& function) {
  // Common dtype
  const ScalarType common_type = floating_result_type(in.scalar_type());

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    if constexpr (std::is_invocable_v<const Function&, int64_t, CTYPE*, const CTYPE*>) {
      elementwise([&function](int64_t n, CTYPE* results, const CTYPE* x) { function(n, results, x); }, out, in);
    } else {
      elementwise(wide([&function](CTYPE x) KERNELS_ALWAYS_INLINE -> CTYPE { return function(x); }), out, in);
    }
  });
  return out;
}

}  // namespace rules_executorch::kernels
