#include "kernels/elementwise/unary.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& relu_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "relu.out");
  // NaN propagates, because NaN < 0 is false.
  return unary_out<op_name>(ctx, in, out, [](auto x) { return x < 0 ? decltype(x)(0) : x; });
}

}  // namespace torch::executor::native
