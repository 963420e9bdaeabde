#include <functional>

#include "kernels/portable/util/comparison.h"

namespace torch::executor::native {

Tensor& eq_tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "eq.Tensor_out");
  return comparison_tensor_out<op_name>(ctx, a, b, out, std::equal_to<>());
}

Tensor& eq_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "eq.Scalar_out");
  return comparison_scalar_out<op_name>(ctx, a, b, out, std::equal_to<>());
}

}  // namespace torch::executor::native
