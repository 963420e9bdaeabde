#include <type_traits>

#include "kernels/elementwise/division.h"
#include "kernels/tensors/promotion.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The remainder of x / y, with the sign of y.
template <typename T, typename Function>
KERNELS_ALWAYS_INLINE inline T remainder_of(T x, T y, const Function& fmod) {
  T result;
  if constexpr (std::is_floating_point_v<T>) {
    result = fmod(x, y);
  } else {
    // The division of the smallest integer by -1 would trap.
    result = std::is_signed_v<T> && y == T(-1) ? T(0) : static_cast<T>(x % y);
  }
  return ((result != 0) & ((result < 0) != (y < 0))) ? static_cast<T>(result + y) : result;
}

}  // namespace

Tensor& remainder_Tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "remainder.Tensor_out");
  return division_out<op_name>(
      ctx, a, b, result_type(a, b),
      [](auto x, auto y, const auto& fmod) KERNELS_ALWAYS_INLINE { return remainder_of(x, y, fmod); }, out);
}

Tensor& remainder_Scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "remainder.Scalar_out");
  return division_out<op_name>(
      ctx, a, ScalarTensor(b, result_type(a, b)).tensor(), result_type(a, b),
      [](auto x, auto y, const auto& fmod) KERNELS_ALWAYS_INLINE { return remainder_of(x, y, fmod); }, out);
}

}  // namespace torch::executor::native
