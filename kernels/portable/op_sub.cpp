#include "kernels/common/elementwise.h"
#include "kernels/common/promotion.h"
#include "kernels/common/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// alpha is a value of the common dtype, which is not Bool: a fraction not for integer tensors.
bool alpha_is_valid(const Scalar& alpha, ScalarType common_type) {
  if (alpha.isBoolean() || (alpha.isFloatingPoint() && !isFloatingType(common_type))) {
    return false;
  }
  return scalar_fits(alpha, common_type);
}

}  // namespace

Tensor& sub_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, const Scalar& alpha, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "sub.out");

  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check: PyTorch subtracts no Bools.
  ET_KERNEL_CHECK(ctx, a.scalar_type() != ScalarType::Bool && b.scalar_type() != ScalarType::Bool, InvalidArgument,
                  out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, alpha_is_valid(alpha, common_type), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);

  // Compute
  ET_SWITCH_REAL_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    const CTYPE factor = scalar_cast<CTYPE>(alpha);
    elementwise([factor](CTYPE x, CTYPE y) -> CTYPE { return static_cast<CTYPE>(x - factor * y); }, out, a, b);
  });
  return out;
}

Tensor& sub_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, const Scalar& alpha, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "sub.Scalar_out");

  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check: PyTorch subtracts no Bools.
  ET_KERNEL_CHECK(ctx, a.scalar_type() != ScalarType::Bool && !b.isBoolean(), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, alpha_is_valid(alpha, common_type), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, a), InvalidArgument, out);

  // Compute
  ET_SWITCH_REAL_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    const CTYPE subtrahend = static_cast<CTYPE>(scalar_cast<CTYPE>(alpha) * scalar_cast<CTYPE>(b));
    elementwise([subtrahend](CTYPE x) -> CTYPE { return static_cast<CTYPE>(x - subtrahend); }, out, a);
  });
  return out;
}

}  // namespace torch::executor::native
