#include <cmath>
#include <type_traits>

#include "kernels/elementwise/elementwise.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The absolute value. For complex numbers, the distance from 0.
template <typename T>
auto absolute(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::abs(x);
  } else if constexpr (std::is_unsigned_v<T>) {
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    // The negation of the smallest integer wraps around to itself.
    return static_cast<T>(x < 0 ? -x : x);
  } else {
    return std::hypot(x.real(), x.imag());
  }
}

}  // namespace

Tensor& abs_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "abs.out");

  // Check
  ET_KERNEL_CHECK(ctx, in.scalar_type() != ScalarType::Bool, InvalidArgument, out);
  // As in PyTorch, only the absolute values of complex numbers may have another dtype.
  const bool takes_floats = isComplexType(in.scalar_type()) && is_supported(out.scalar_type());
  ET_KERNEL_CHECK(ctx, takes_floats ? isFloatingType(out.scalar_type()) : tensors_have_same_dtype(in, out),
                  InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  KERNELS_SWITCH_REALB_AND_COMPLEX_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    elementwise([](CTYPE x) -> decltype(absolute(x)) { return absolute(x); }, out, in);
  });
  return out;
}

}  // namespace torch::executor::native
