#include <type_traits>

#include "kernels/elementwise/binary.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// A shift by all of the bits or more, or by a negative number, leaves none of them.
template <typename T>
struct ShiftLeft {
  static constexpr bool kWide = true;

  KERNELS_ALWAYS_INLINE T operator()(T x, T y) const {
    using Bits = std::make_unsigned_t<T>;
    const bool in_range = static_cast<Bits>(y) < 8 * sizeof(T);
    return in_range ? static_cast<T>(static_cast<Bits>(x) << y) : T(0);
  }
};

/// Bools are not shifted.
template <>
struct ShiftLeft<bool> {
  bool operator()(bool x, bool) const { return x; }
};

}  // namespace

Tensor& bitwise_left_shift_Tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "bitwise_left_shift.Tensor_out");
  ET_KERNEL_CHECK(ctx, result_type(a, b) != ScalarType::Bool, InvalidArgument, out);
  return binary_integer_out<op_name, ShiftLeft>(ctx, a, b, out);
}

Tensor& bitwise_left_shift_Tensor_Scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "bitwise_left_shift.Tensor_Scalar_out");
  ET_KERNEL_CHECK(ctx, result_type(a, b) != ScalarType::Bool, InvalidArgument, out);
  return binary_integer_out<op_name, ShiftLeft>(ctx, a, b, out);
}

}  // namespace torch::executor::native
