#include "kernels/elementwise/unary.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& neg_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "neg.out");
  return unary_out<op_name>(ctx, in, out, [](auto x) { return static_cast<decltype(x)>(-x); });
}

}  // namespace torch::executor::native
