#pragma once

#include "kernels/common/elementwise.h"
#include "kernels/common/resize.h"

namespace rules_executorch::kernels {

/// A floating-point function of each element, `out = function(in)`: integers and Bools give Float, as in PyTorch.
/// `function` takes and returns float and double.
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
  ET_SWITCH_FLOAT_TYPES(compute_type(common_type), ctx, op_name, CTYPE,
                        [&] { elementwise([&function](CTYPE x) -> CTYPE { return function(x); }, out, in); });
  return out;
}

}  // namespace rules_executorch::kernels
