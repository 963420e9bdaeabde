#include <limits>
#include <optional>

#include "kernels/elementwise/unary_float.h"
#include "kernels/math/vector_math.h"
#include "kernels/tensors/scalar.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& logit_out(KernelRuntimeContext& ctx, const Tensor& in, std::optional<double> eps, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "logit.out");
  ET_KERNEL_CHECK(ctx, !eps.has_value() || scalar_fits(*eps, floating_result_type(in.scalar_type())), InvalidArgument,
                  out);
  // Without eps, the bounds are infinite.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double low = eps.value_or(-kInfinity);
  const double high = eps.has_value() ? 1 - *eps : kInfinity;
  return unary_float_out<op_name>(ctx, in, out, [=](auto x) KERNELS_ALWAYS_INLINE {
    using T = decltype(x);
    const T lowered = x > static_cast<T>(high) ? static_cast<T>(high) : x;
    const T p = x < static_cast<T>(low) ? static_cast<T>(low) : lowered;
    return math::log(p / (1 - p));
  });
}

}  // namespace torch::executor::native
