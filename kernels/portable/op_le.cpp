#include <functional>

#include "kernels/elementwise/binary.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& le_tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "le.Tensor_out");
  return comparison_out<op_name, std::less_equal>(ctx, a, b, out);
}

Tensor& le_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "le.Scalar_out");
  return comparison_out<op_name, std::less_equal>(ctx, a, b, out);
}

}  // namespace torch::executor::native
