#include "kernels/elementwise/unary_float.h"
#include "kernels/math/vector_math.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& sinh_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "sinh.out");
  return unary_float_out<op_name>(ctx, in, out, [](auto x) KERNELS_ALWAYS_INLINE { return math::sinh(x); });
}

}  // namespace torch::executor::native
