#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/division.h"
#include "kernels/tensors/promotion.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
struct Divide {
  static constexpr bool kWide = true;

  KERNELS_ALWAYS_INLINE T operator()(T x, T y) const { return x / y; }
};

/// `out = a / b`, with quotients rounded by `rounding_mode`. Integer dtypes are kept.
template <ET_OPERATOR_NAME_TYPE op_name>
Tensor& divide_rounded(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, ScalarType common_type,
                       std::string_view rounding_mode, Tensor& out) {
  const bool down = rounding_mode == "floor";
  ET_KERNEL_CHECK(ctx, down || rounding_mode == "trunc", InvalidArgument, out);
  // Each mode has its own loop, because a loop that tests the mode is not vectorized.
  if (down) {
    return division_out<op_name>(
        ctx, a, b, common_type,
        [](auto x, auto y, const auto& fmod) KERNELS_ALWAYS_INLINE { return divide_floor(x, y, fmod); }, out);
  }
  return division_out<op_name>(
      ctx, a, b, common_type, [](auto x, auto y, const auto&) KERNELS_ALWAYS_INLINE { return divide_trunc(x, y); },
      out);
}

}  // namespace

Tensor& div_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "div.out");
  return binary_float_or_complex_out<op_name, Divide>(ctx, a, b, result_type(a, b), out);
}

Tensor& div_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "div.Scalar_out");
  const ScalarType common_type = result_type(a, b);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == floating_result_type(common_type), InvalidArgument, out);
  return binary_float_or_complex_out<op_name, Divide>(ctx, a, ScalarTensor(b).tensor(), common_type, out);
}

Tensor& div_out_mode(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b,
                     std::optional<std::string_view> rounding_mode, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "div.out_mode");
  if (!rounding_mode.has_value()) {
    return binary_float_or_complex_out<op_name, Divide>(ctx, a, b, result_type(a, b), out);
  }
  return divide_rounded<op_name>(ctx, a, b, result_type(a, b), *rounding_mode, out);
}

Tensor& div_scalar_mode_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b,
                            std::optional<std::string_view> rounding_mode, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "div.Scalar_mode_out");
  const ScalarType common_type = result_type(a, b);
  const ScalarType quotient_type = rounding_mode.has_value() ? common_type : floating_result_type(common_type);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == quotient_type, InvalidArgument, out);
  ScalarTensor divisor(b);
  if (!rounding_mode.has_value()) {
    return binary_float_or_complex_out<op_name, Divide>(ctx, a, divisor.tensor(), common_type, out);
  }
  return divide_rounded<op_name>(ctx, a, divisor.tensor(), common_type, *rounding_mode, out);
}

}  // namespace torch::executor::native
