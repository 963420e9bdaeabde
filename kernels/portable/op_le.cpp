#include <functional>

#include "kernels/common/comparison.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& le_tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "le.Tensor_out");
  return comparison_tensor_out<op_name>(ctx, a, b, out, std::less_equal<>());
}

Tensor& le_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "le.Scalar_out");
  return comparison_scalar_out<op_name>(ctx, a, b, out, std::less_equal<>());
}

}  // namespace torch::executor::native
