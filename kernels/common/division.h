#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/common/elementwise.h"
#include "kernels/common/resize.h"
#include "kernels/common/scalar.h"

namespace rules_executorch::kernels {

/// A Scalar as a 0-dim tensor, so that one piece of code divides by either.
class ScalarTensor {
 public:
  explicit ScalarTensor(const Scalar& scalar)
      : real_(scalar_cast<double>(scalar)),
        integer_(scalar_cast<int64_t>(scalar)),
        impl_(scalar.isFloatingPoint() ? ScalarType::Double : ScalarType::Long, 0, nullptr,
              scalar.isFloatingPoint() ? static_cast<void*>(&real_) : &integer_) {}

  Tensor tensor() { return Tensor(&impl_); }

 private:
  double real_;
  int64_t integer_;
  TensorImpl impl_;
};

/// Whether one of the elements of `tensor` is 0 as an integer of dtype `type`.
bool contains_zero(const Tensor& tensor, ScalarType type);

/// x / y without its fraction.
template <typename T>
T divide_trunc(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::trunc(x / y);
  } else if (std::is_signed_v<T> && y == T(-1)) {
    // The quotient of the least integer does not fit: it wraps around, where a division would trap.
    return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
  } else {
    return static_cast<T>(x / y);
  }
}

/// The largest integer that is not more than x / y.
template <typename T>
T divide_floor(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (y == 0) {
      return x / y;
    }
    // Not floor(x / y), whose division may round up to an integer: the exact quotient follows from the remainder.
    const T remainder = std::fmod(x, y);
    T quotient = (x - remainder) / y;
    if (remainder != 0 && (remainder < 0) != (y < 0)) {
      quotient -= 1;
    }
    return quotient == 0 ? std::copysign(T(0), x / y) : std::round(quotient);
  } else {
    const T quotient = divide_trunc(x, y);
    const bool is_exact = static_cast<T>(quotient * y) == x;
    return static_cast<T>(quotient - (!is_exact && (x < 0) != (y < 0)));
  }
}

/// `out = function(a, b)` for each element, a function of integers or of floats that divides: integers are not divided
/// by zero, and Bools not at all. `common_type` is the dtype that the operands have in common.
template <ET_OPERATOR_NAME_TYPE op_name, typename Function>
Tensor& division_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, ScalarType common_type,
                     const Function& function, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, common_type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, isFloatingType(common_type) || out.numel() == 0 || !contains_zero(b, common_type),
                  InvalidArgument, out);

  // Compute
  ET_SWITCH_REAL_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    elementwise([&function](CTYPE x, CTYPE y) -> CTYPE { return function(x, y); }, out, a, b);
  });
  return out;
}

}  // namespace rules_executorch::kernels
