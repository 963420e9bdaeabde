#include "kernels/elementwise/unary_float.h"
#include "kernels/math/vector_math.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& log1p_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "log1p.out");
  return unary_float_out<op_name>(ctx, in, out, [](auto x) KERNELS_ALWAYS_INLINE { return math::log1p(x); });
}

}  // namespace torch::executor::native
