#pragma once

#include <type_traits>

#include "kernels/elementwise/elementwise.h"
#include "kernels/math/vectorize.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/promotion.h"
#include "kernels/tensors/resize.h"
#include "kernels/tensors/scalar.h"

namespace rules_executorch::kernels {

namespace internal {

/// Resizes `out` to the shape of the result. The second operand is a tensor or a Scalar.
inline bool resize_to_result(Tensor& out, const Tensor& a, const Tensor& b) { return resize_to_broadcast(out, a, b); }
inline bool resize_to_result(Tensor& out, const Tensor& a, const Scalar&) { return resize_like(out, a); }

/// `out = typed(...)` for each element, with wide vectors if `Function` has kWide.
template <typename Function, typename Typed, typename... Inputs>
void apply_elementwise_to(const Typed& typed, Tensor& out, const Inputs&... inputs) {
  if constexpr (kIsWide<Function>) {
    elementwise(wide(typed), out, inputs...);
  } else {
    elementwise(typed, out, inputs...);
  }
}

/// `out = function(a, b)` for each element, computed as `T`.
template <typename T, typename Function>
void apply_binary(const Function& function, const Tensor& a, const Tensor& b, Tensor& out) {
  using Result = std::invoke_result_t<const Function&, T, T>;
  apply_elementwise_to<Function>([function](T x, T y) KERNELS_ALWAYS_INLINE -> Result { return function(x, y); }, out,
                                 a, b);
}

template <typename T, typename Function>
void apply_binary(const Function& function, const Tensor& a, const Scalar& b, Tensor& out) {
  using Result = std::invoke_result_t<const Function&, T, T>;
  const T y = scalar_cast<T>(b);
  apply_elementwise_to<Function>([function, y](T x) KERNELS_ALWAYS_INLINE -> Result { return function(x, y); }, out, a);
}

}  // namespace internal

/// A broadcast function of two operands, `out = function(a, b)`: `a` is a tensor, `b` a tensor or a Scalar. The Scalars
/// `parameters` initialize the members of `Function<T>`, converted to `T`, the dtype of the computation:
///
///     template <typename T>
///     struct Add {
///       T factor;
///       T operator()(T x, T y) const { return static_cast<T>(x + factor * y); }
///     };
///
///     return binary_out<op_name, Add>(ctx, a, b, out, alpha);
///
/// A function with `static constexpr bool kWide = true;` is compiled for wide vectors, too (see `wide`).
template <ET_OPERATOR_NAME_TYPE op_name, template <typename> typename Function, typename Operand, typename... Scalars>
Tensor& binary_out(KernelRuntimeContext& ctx, const Tensor& a, const Operand& b, Tensor& out,
                   const Scalars&... parameters) {
  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, internal::resize_to_result(out, a, b), InvalidArgument, out);

  // Compute
  ET_SWITCH_REALB_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    internal::apply_binary<CTYPE>(Function<CTYPE>{scalar_cast<CTYPE>(parameters)...}, a, b, out);
  });
  return out;
}

/// `binary_out` with complex dtypes.
template <ET_OPERATOR_NAME_TYPE op_name, template <typename> typename Function, typename Operand, typename... Scalars>
Tensor& binary_or_complex_out(KernelRuntimeContext& ctx, const Tensor& a, const Operand& b, Tensor& out,
                              const Scalars&... parameters) {
  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, internal::resize_to_result(out, a, b), InvalidArgument, out);

  // Compute
  KERNELS_SWITCH_REALB_AND_COMPLEX_TYPES(compute_type(common_type), ctx, op_name, CTYPE, [&] {
    internal::apply_binary<CTYPE>(Function<CTYPE>{scalar_cast<CTYPE>(parameters)...}, a, b, out);
  });
  return out;
}

/// `binary_out` for integers and Bools. Refuses floating-point dtypes.
template <ET_OPERATOR_NAME_TYPE op_name, template <typename> typename Function, typename Operand>
Tensor& binary_integer_out(KernelRuntimeContext& ctx, const Tensor& a, const Operand& b, Tensor& out) {
  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check
  ET_KERNEL_CHECK(ctx, isIntegralType(common_type, /*includeBool=*/true), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, internal::resize_to_result(out, a, b), InvalidArgument, out);

  // Compute
  ET_SWITCH_INT_TYPES_AND(Bool, common_type, ctx, op_name, CTYPE,
                          [&] { internal::apply_binary<CTYPE>(Function<CTYPE>{}, a, b, out); });
  return out;
}

/// `binary_out` with a floating-point result. For integers and Bools, the result is Float, as in PyTorch.
/// `operand_type` is the common dtype of the operands.
template <ET_OPERATOR_NAME_TYPE op_name, template <typename> typename Function>
Tensor& binary_float_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, ScalarType operand_type,
                         Tensor& out) {
  // Common dtype
  const ScalarType common_type = floating_result_type(operand_type);

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(operand_type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(common_type), ctx, op_name, CTYPE,
                        [&] { internal::apply_binary<CTYPE>(Function<CTYPE>{}, a, b, out); });
  return out;
}

/// `binary_float_out` with complex dtypes.
template <ET_OPERATOR_NAME_TYPE op_name, template <typename> typename Function>
Tensor& binary_float_or_complex_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b,
                                    ScalarType operand_type, Tensor& out) {
  // Common dtype
  const ScalarType common_type = floating_result_type(operand_type);

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(operand_type) || isComplexType(operand_type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, a, b), InvalidArgument, out);

  // Compute
  KERNELS_SWITCH_FLOAT_AND_COMPLEX_TYPES(compute_type(common_type), ctx, op_name, CTYPE,
                                         [&] { internal::apply_binary<CTYPE>(Function<CTYPE>{}, a, b, out); });
  return out;
}

/// `out = Function()(a, b)`, a Bool for each element. `Function` is a function object of std such as std::less. Both
/// operands are first rounded to the common dtype, as in PyTorch: Half is compared as Half.
template <ET_OPERATOR_NAME_TYPE op_name, template <typename> typename Function, typename Operand>
Tensor& comparison_out(KernelRuntimeContext& ctx, const Tensor& a, const Operand& b, Tensor& out) {
  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(common_type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(ScalarType::Bool, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, internal::resize_to_result(out, a, b), InvalidArgument, out);

  // Compute
  ET_SWITCH_REALHBBF16_TYPES(common_type, ctx, op_name, CTYPE,
                             [&] { internal::apply_binary<CTYPE>(Function<CTYPE>{}, a, b, out); });
  return out;
}

}  // namespace rules_executorch::kernels
