#include <cmath>
#include <type_traits>

#include "kernels/common/unary.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& abs_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "abs.out");
  return unary_out<op_name>(ctx, in, out, [](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else {
      // The least integer stays what it is.
      return static_cast<T>(x < 0 ? -x : x);
    }
  });
}

}  // namespace torch::executor::native
