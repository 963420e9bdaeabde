#include <cmath>

#include "kernels/elementwise/unary_float.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& erfc_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "erfc.out");
  return unary_float_out<op_name>(ctx, in, out, [](auto x) { return std::erfc(x); });
}

}  // namespace torch::executor::native
