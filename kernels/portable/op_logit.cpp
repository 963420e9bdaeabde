#include <optional>

#include "kernels/common/unary_float.h"
#include "kernels/common/vector_math.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& logit_out(KernelRuntimeContext& ctx, const Tensor& in, std::optional<double> eps, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "logit.out");
  const bool clamps = eps.has_value();
  const double low = eps.value_or(0);
  return unary_float_out<op_name>(ctx, in, out, [=](auto x) KERNELS_ALWAYS_INLINE {
    using T = decltype(x);
    const T high = static_cast<T>(1 - low);
    const T lowered = clamps && x > high ? high : x;
    const T p = clamps && x < static_cast<T>(low) ? static_cast<T>(low) : lowered;
    return math::log(p / (1 - p));
  });
}

}  // namespace torch::executor::native
