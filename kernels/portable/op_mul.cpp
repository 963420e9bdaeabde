#include "kernels/common/elementwise.h"
#include "kernels/common/promotion.h"
#include "kernels/common/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
T multiply(T x, T y) {
  if constexpr (std::is_same_v<T, bool>) {
    return x && y;
  } else {
    return static_cast<T>(x * y);
  }
}

}  // namespace

Tensor& mul_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "mul.out");

  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);

  // Compute
  ET_SWITCH_REALB_TYPES(compute_type(common_type), ctx, op_name, CTYPE,
                        [&] { elementwise([](CTYPE x, CTYPE y) -> CTYPE { return multiply(x, y); }, out, a, b); });
  return out;
}

Tensor& mul_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "mul.Scalar_out");

  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, a), InvalidArgument, out);

  // Compute
  ET_SWITCH_REALB_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    const CTYPE y = scalar_cast<CTYPE>(b);
    elementwise([y](CTYPE x) -> CTYPE { return multiply(x, y); }, out, a);
  });
  return out;
}

}  // namespace torch::executor::native
