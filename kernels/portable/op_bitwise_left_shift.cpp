#include <type_traits>

#include "kernels/elementwise/binary.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The result is 0 for shifts by a negative number or by at least the number of bits.
template <typename T>
struct ShiftLeft {
  static constexpr bool kWide = true;

  KERNELS_ALWAYS_INLINE T operator()(T x, T y) const {
    using Bits = std::make_unsigned_t<T>;
    const bool in_range = static_cast<Bits>(y) < 8 * sizeof(T);
    return in_range ? static_cast<T>(static_cast<Bits>(x) << y) : T(0);
  }
};

/// Shifts do not change Bools.
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
