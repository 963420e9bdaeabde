#include <cmath>

#include "kernels/common/unary_float.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& acosh_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "acosh.out");
  return unary_float_out<op_name>(ctx, in, out, [](auto x) { return std::acosh(x); });
}

}  // namespace torch::executor::native
