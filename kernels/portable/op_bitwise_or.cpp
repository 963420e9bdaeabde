#include <functional>

#include "kernels/elementwise/binary.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& bitwise_or_Tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "bitwise_or.Tensor_out");
  return binary_integer_out<op_name, std::bit_or>(ctx, a, b, out);
}

Tensor& bitwise_or_Scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "bitwise_or.Scalar_out");
  return binary_integer_out<op_name, std::bit_or>(ctx, a, b, out);
}

}  // namespace torch::executor::native
