#include <type_traits>

#include "kernels/elementwise/binary.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The result only has sign bits for shifts by a negative number or by at least the number of bits.
template <typename T>
struct ShiftRight {
  static constexpr bool kWide = true;

  KERNELS_ALWAYS_INLINE T operator()(T x, T y) const {
    using Bits = std::make_unsigned_t<T>;
    constexpr Bits kMax = static_cast<Bits>(8 * sizeof(T) - std::is_signed_v<T>);
    return static_cast<T>(x >> (static_cast<Bits>(y) < kMax ? static_cast<Bits>(y) : kMax));
  }
};

/// Shifts do not change Bools.
template <>
struct ShiftRight<bool> {
  bool operator()(bool x, bool) const { return x; }
};

}  // namespace

Tensor& bitwise_right_shift_Tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "bitwise_right_shift.Tensor_out");
  ET_KERNEL_CHECK(ctx, result_type(a, b) != ScalarType::Bool, InvalidArgument, out);
  return binary_integer_out<op_name, ShiftRight>(ctx, a, b, out);
}

Tensor& bitwise_right_shift_Tensor_Scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b,
                                              Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "bitwise_right_shift.Tensor_Scalar_out");
  ET_KERNEL_CHECK(ctx, result_type(a, b) != ScalarType::Bool, InvalidArgument, out);
  return binary_integer_out<op_name, ShiftRight>(ctx, a, b, out);
}

}  // namespace torch::executor::native
