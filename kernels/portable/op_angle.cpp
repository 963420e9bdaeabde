#include <type_traits>

#include "kernels/elementwise/elementwise.h"
#include "kernels/math/vector_math.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
KERNELS_ALWAYS_INLINE inline auto angle_of(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x != x ? x : x < 0 ? T(3.14159265358979323846) : T(0);
  } else {
    return math::atan2(x.imag(), x.real());
  }
}

}  // namespace

Tensor& angle_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "angle.out");

  // Common dtype
  const bool is_complex = isComplexType(in.scalar_type());
  const ScalarType common_type =
      is_complex ? toRealValueType(in.scalar_type()) : floating_result_type(in.scalar_type());

  // Check
  ET_KERNEL_CHECK(ctx, is_complex || is_supported(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(common_type, out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  KERNELS_SWITCH_FLOAT_AND_COMPLEX_TYPES(
      compute_type(is_complex ? in.scalar_type() : common_type), ctx, op_name, CTYPE, [&] {
        elementwise(wide([](CTYPE x) KERNELS_ALWAYS_INLINE -> decltype(angle_of(x)) { return angle_of(x); }), out, in);
      });
  return out;
}

}  // namespace torch::executor::native
