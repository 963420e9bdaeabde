#include <type_traits>
#include <utility>

#include "kernels/elementwise/binary.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Euclid's algorithm. The smallest number of a dtype has no absolute value and stays negative, as in PyTorch.
template <typename T>
struct GreatestDivisor {
  T operator()(T x, T y) const {
    T divisor = magnitude(y), rest = magnitude(x);
    while (rest != 0) {
      // Everything is a multiple of -1, by which a processor may be unable to divide the smallest number.
      const bool is_minus_one = std::is_signed_v<T> && rest == static_cast<T>(-1);
      const T next = is_minus_one ? T(0) : static_cast<T>(divisor % rest);
      divisor = std::exchange(rest, next);
    }
    return divisor;
  }

 private:
  static T magnitude(T x) { return x < 0 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x)) : x; }
};

/// Not called: Bools are refused.
template <>
struct GreatestDivisor<bool> {
  bool operator()(bool x, bool) const { return x; }
};

}  // namespace

Tensor& gcd_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "gcd.out");
  ET_KERNEL_CHECK(ctx, result_type(a, b) != ScalarType::Bool, InvalidArgument, out);
  return binary_integer_out<op_name, GreatestDivisor>(ctx, a, b, out);
}

}  // namespace torch::executor::native
