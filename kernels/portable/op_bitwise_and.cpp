#include <functional>

#include "kernels/elementwise/binary.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& bitwise_and_Tensor_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "bitwise_and.Tensor_out");
  return binary_integer_out<op_name, std::bit_and>(ctx, a, b, out);
}

Tensor& bitwise_and_Scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "bitwise_and.Scalar_out");
  return binary_integer_out<op_name, std::bit_and>(ctx, a, b, out);
}

}  // namespace torch::executor::native
