#pragma once

#include <type_traits>

#include "kernels/elementwise/elementwise.h"
#include "kernels/math/vectorize.h"
#include "kernels/tensors/resize.h"

namespace rules_executorch::kernels {

/// `out = function(in)` for each element, for integers and floats. The dtype does not change. `function` must accept
/// and return all these types except Half and BFloat16, which are computed as float. Functions for wide vectors (see
/// `wide`) use wide vectors for floats.
template <ET_OPERATOR_NAME_TYPE op_name, typename Function>
Tensor& unary_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out, const Function& function) {
  // Check
  ET_KERNEL_CHECK(ctx, in.scalar_type() != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_REAL_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    const auto typed = [&function](CTYPE x) KERNELS_ALWAYS_INLINE -> CTYPE { return function(x); };
    if constexpr (internal::kIsWide<Function> && std::is_floating_point_v<CTYPE>) {
      elementwise(wide(typed), out, in);
    } else {
      elementwise(typed, out, in);
    }
  });
  return out;
}

}  // namespace rules_executorch::kernels
