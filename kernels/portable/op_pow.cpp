#include <cmath>

#include "kernels/copy/copy.h"
#include "kernels/copy/fill.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/tensors/promotion.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// base to the power of exponent. For integers, by squaring: overflow wraps around, and a negative exponent gives the
/// reciprocal, rounded towards zero.
template <typename T>
KERNELS_ALWAYS_INLINE inline T power(T base, T exponent) {
  if constexpr (std::is_floating_point_v<T>) {
    return math::pow(base, exponent);
  } else {
    if (exponent < 0) {
      const bool odd = (exponent & 1) != 0;
      return base == 1 ? T(1) : base == T(-1) ? (odd ? T(-1) : T(1)) : T(0);
    }
    uint64_t result = 1;
    uint64_t square = static_cast<uint64_t>(base);
    for (uint64_t left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
      result *= (left & 1) != 0 ? square : 1;
      square *= square;
    }
    return static_cast<T>(result);
  }
}

/// Wide vectors are only used for floating-point powers.
template <typename T, typename Function, typename... Inputs>
void apply_power(const Function& function, Tensor& out, const Inputs&... inputs) {
  if constexpr (std::is_floating_point_v<T>) {
    elementwise(wide(function), out, inputs...);
  } else {
    elementwise(function, out, inputs...);
  }
}

/// out = in to the power of exponent, computed in T for a result of dtype `type`. Common exponents have separate loops.
template <typename T>
void tensor_power(const Tensor& in, T exponent, ScalarType type, Tensor& out) {
  if (exponent == 2) {
    elementwise([](T x) -> T { return static_cast<T>(x * x); }, out, in);
    return;
  }
  // sqrt(-inf) is NaN, pow(-inf, 0.5) is infinity. For Half, PyTorch uses pow.
  if constexpr (std::is_floating_point_v<T>) {
    if (exponent == T(0.5) && type != ScalarType::Half) {
      elementwise([](T x) -> T { return std::sqrt(x); }, out, in);
      return;
    }
    if (exponent == T(-0.5) && type != ScalarType::Half) {
      elementwise([](T x) -> T { return 1 / std::sqrt(x); }, out, in);
      return;
    }
  }
  apply_power<T>([exponent](T x) KERNELS_ALWAYS_INLINE -> T { return power(x, exponent); }, out, in);
}

}  // namespace

Tensor& pow_Tensor_Tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "pow.Tensor_Tensor_out");

  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check
  ET_KERNEL_CHECK(ctx, common_type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);

  // Compute
  ET_SWITCH_REAL_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    apply_power<CTYPE>([](CTYPE x, CTYPE y) KERNELS_ALWAYS_INLINE -> CTYPE { return power(x, y); }, out, a, b);
  });
  return out;
}

Tensor& pow_Tensor_Scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "pow.Tensor_Scalar_out");

  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check: integers have no negative powers, and Bools only have powers 0 and 1.
  const double exponent = scalar_cast<double>(b);
  ET_KERNEL_CHECK(ctx, common_type != ScalarType::Bool || exponent == 0 || exponent == 1, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_supported(common_type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, isFloatingType(common_type) || exponent >= 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, a), InvalidArgument, out);

  // Compute
  if (exponent == 0) {
    fill(StridedView(out), true);
    return out;
  }
  if (exponent == 1) {
    copy(a, out);
    return out;
  }
  ET_SWITCH_REAL_TYPES(compute_type(common_type), ctx, op_name, CTYPE,
                       [&] { tensor_power(a, scalar_cast<CTYPE>(b), common_type, out); });
  return out;
}

Tensor& pow_Scalar_out(KernelRuntimeContext& ctx, const Scalar& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "pow.Scalar_out");

  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check: powers of 1 are 1 in all dtypes.
  const bool is_one = !a.isBoolean() && scalar_cast<double>(a) == 1;
  ET_KERNEL_CHECK(ctx, is_supported(common_type) && is_supported(out.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_one || common_type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_one || can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, b), InvalidArgument, out);

  // Compute
  if (is_one) {
    fill(StridedView(out), true);
    return out;
  }
  ET_SWITCH_REAL_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    const CTYPE base = scalar_cast<CTYPE>(a);
    apply_power<CTYPE>([base](CTYPE y) KERNELS_ALWAYS_INLINE -> CTYPE { return power(base, y); }, out, b);
  });
  return out;
}

}  // namespace torch::executor::native
