#pragma once

#include "kernels/common/elementwise.h"
#include "kernels/common/promotion.h"
#include "kernels/common/resize.h"

namespace rules_executorch::kernels {

/// `out = compare(a, b)` for each element, broadcast; `compare` is one of std's function objects. Both operands are
/// rounded to the common dtype first, as in PyTorch, so that Half is compared as Half.
template <ET_OPERATOR_NAME_TYPE op_name, typename Compare>
Tensor& comparison_tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out,
                              const Compare& compare) {
  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(common_type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(ScalarType::Bool, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);

  // Compute
  ET_SWITCH_REALHBBF16_TYPES(common_type, ctx, op_name, CTYPE, [&] {
    elementwise([&compare](CTYPE x, CTYPE y) -> bool { return compare(x, y); }, out, a, b);
  });
  return out;
}

/// `comparison_tensor_out` with a Scalar for `b`.
template <ET_OPERATOR_NAME_TYPE op_name, typename Compare>
Tensor& comparison_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out,
                              const Compare& compare) {
  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(common_type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(ScalarType::Bool, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, a), InvalidArgument, out);

  // Compute
  ET_SWITCH_REALHBBF16_TYPES(common_type, ctx, op_name, CTYPE, [&] {
    const CTYPE y = scalar_cast<CTYPE>(b);
    elementwise([&compare, y](CTYPE x) -> bool { return compare(x, y); }, out, a);
  });
  return out;
}

}  // namespace rules_executorch::kernels
