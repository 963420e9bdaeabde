#include <functional>

#include "kernels/common/comparison.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& eq_tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "eq.Tensor_out");
  return comparison_tensor_out<op_name>(ctx, a, b, out, std::equal_to<>());
}

Tensor& eq_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "eq.Scalar_out");
  return comparison_scalar_out<op_name>(ctx, a, b, out, std::equal_to<>());
}

}  // namespace torch::executor::native
