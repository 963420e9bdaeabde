#include "kernels/elementwise/unary_float.h"
#include "kernels/math/vector_math.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& sin_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "sin.out");
  return unary_float_out<op_name>(ctx, in, out,
                                  [](int64_t n, auto* results, const auto* x) { math::sin(n, results, x); });
}

}  // namespace torch::executor::native
