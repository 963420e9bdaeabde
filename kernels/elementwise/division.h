#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/elementwise/elementwise.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/tensors/resize.h"
#include "kernels/tensors/scalar.h"

namespace rules_executorch::kernels {

/// A Scalar as a 0-dim tensor, so that the same code divides by tensors and by Scalars.
class ScalarTensor {
 public:
  explicit ScalarTensor(const Scalar& scalar)
      : ScalarTensor(scalar.isFloatingPoint(), scalar_cast<double>(scalar), scalar_cast<int64_t>(scalar)) {}

  /// Rounds the value to dtype `type`.
  ScalarTensor(const Scalar& scalar, ScalarType type)
      : ScalarTensor(isFloatingType(type), rounded(scalar, type), scalar_cast<int64_t>(scalar)) {}

  Tensor tensor() { return Tensor(&impl_); }

 private:
  ScalarTensor(bool is_real, double real, int64_t integer)
      : real_(real),
        integer_(integer),
        impl_(is_real ? ScalarType::Double : ScalarType::Long, 0, nullptr,
              is_real ? static_cast<void*>(&real_) : &integer_) {}

  static double rounded(const Scalar& scalar, ScalarType type) {
    switch (type) {
      case ScalarType::Half:
        return convert_value<double>(scalar_cast<Half>(scalar));
      case ScalarType::BFloat16:
        return convert_value<double>(scalar_cast<BFloat16>(scalar));
      default:
        return scalar_cast<double>(scalar);
    }
  }

  double real_;
  int64_t integer_;
  TensorImpl impl_;
};

/// Whether an element of `tensor`, converted to the integer dtype `type`, is 0.
bool contains_zero(const Tensor& tensor, ScalarType type);

/// x / y, rounded towards zero.
template <typename T>
KERNELS_ALWAYS_INLINE inline T divide_trunc(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return math::trunc(x / y);
  } else if (std::is_signed_v<T> && y == T(-1)) {
    // The quotient of the smallest integer and -1 overflows. Negation wraps around; a division would trap.
    return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
  } else {
    return static_cast<T>(x / y);
  }
}

/// C's fmod.
struct Fmod {
  template <typename T>
  T operator()(T x, T y) const {
    return std::fmod(x, y);
  }
};

/// x / y, rounded down. `fmod` must return the same results as C's fmod.
template <typename T, typename Function = Fmod>
KERNELS_ALWAYS_INLINE inline T divide_floor(T x, T y, const Function& fmod = {}) {
  if constexpr (std::is_floating_point_v<T>) {
    // The exact quotient follows from the remainder. In floor(x / y), the division may round up to an integer.
    const T remainder = fmod(x, y);
    const bool is_above = (remainder != 0) & ((remainder < 0) != (y < 0));
    const T quotient = math::rint((x - remainder) / y - (is_above ? T(1) : T(0)));
    const T ratio = x / y;
    const T result = quotient == 0 ? std::copysign(T(0), ratio) : quotient;
    return y == 0 ? ratio : result;
  } else {
    const T quotient = divide_trunc(x, y);
    const bool is_exact = static_cast<T>(quotient * y) == x;
    return static_cast<T>(quotient - (!is_exact && (x < 0) != (y < 0)));
  }
}

namespace internal {

/// results = function(x, y, fmod), with a vectorized `fmod` for blocks for which this `fmod` is exact.
template <typename Function>
void divide_floats(int64_t n, float* results, const float* x, const float* y, const Function& function) {
  constexpr int64_t kPart = 64;
  for (int64_t start = 0; start < n; start += kPart) {
    const int64_t count = std::min(kPart, n - start);
    const float* const a = x + start;
    const float* const b = y + start;
    float* const c = results + start;
    uint32_t is_near = 1;
    for (int64_t i = 0; i < count; ++i) {
      is_near &= math::is_near_multiple(a[i], b[i]) ? 1 : 0;
    }
    if (is_near != 0) {
      const auto fmod = [](float p, float q) KERNELS_ALWAYS_INLINE { return math::fmod_of_near(p, q); };
      wide_vectorized_for(count, [=](int64_t i) KERNELS_ALWAYS_INLINE { c[i] = function(a[i], b[i], fmod); });
    } else {
      for (int64_t i = 0; i < count; ++i) {
        c[i] = function(a[i], b[i], Fmod());
      }
    }
  }
}

}  // namespace internal

/// `out = function(a, b, fmod)` for each element. `function` divides integers or floats and uses `fmod` for floats.
/// Refuses Bools, and integer divisors of 0. `common_type` is the common dtype of the operands.
template <ET_OPERATOR_NAME_TYPE op_name, typename Function>
Tensor& division_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, ScalarType common_type,
                     const Function& function, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_supported(common_type) && common_type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, isFloatingType(common_type) || out.numel() == 0 || !contains_zero(b, common_type),
                  InvalidArgument, out);

  // Compute
  ET_SWITCH_REAL_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    if constexpr (std::is_same_v<CTYPE, float>) {
      elementwise([&function](int64_t n, float* results, const float* x,
                              const float* y) { internal::divide_floats(n, results, x, y, function); },
                  out, a, b);
    } else {
      elementwise([&function](CTYPE x, CTYPE y) -> CTYPE { return function(x, y, Fmod()); }, out, a, b);
    }
  });
  return out;
}

}  // namespace rules_executorch::kernels
