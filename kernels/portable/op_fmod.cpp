#include <type_traits>

#include "kernels/elementwise/division.h"
#include "kernels/tensors/promotion.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The remainder of x / y, with the sign of x.
template <typename T, typename Function>
KERNELS_ALWAYS_INLINE inline T fmod_of(T x, T y, const Function& fmod) {
  if constexpr (std::is_floating_point_v<T>) {
    return fmod(x, y);
  } else {
    // The division of the smallest integer by -1 would trap.
    return std::is_signed_v<T> && y == T(-1) ? T(0) : static_cast<T>(x % y);
  }
}

}  // namespace

Tensor& fmod_Tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "fmod.Tensor_out");
  return division_out<op_name>(
      ctx, a, b, result_type(a, b),
      [](auto x, auto y, const auto& fmod) KERNELS_ALWAYS_INLINE { return fmod_of(x, y, fmod); }, out);
}

Tensor& fmod_Scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "fmod.Scalar_out");
  return division_out<op_name>(
      ctx, a, ScalarTensor(b, result_type(a, b)).tensor(), result_type(a, b),
      [](auto x, auto y, const auto& fmod) KERNELS_ALWAYS_INLINE { return fmod_of(x, y, fmod); }, out);
}

}  // namespace torch::executor::native
