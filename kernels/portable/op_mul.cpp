#include <type_traits>

#include "kernels/elementwise/binary.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
struct Multiply {
  T operator()(T x, T y) const {
    if constexpr (std::is_same_v<T, bool>) {
      return x && y;
    } else {
      return static_cast<T>(x * y);
    }
  }
};

}  // namespace

Tensor& mul_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "mul.out");
  return binary_or_complex_out<op_name, Multiply>(ctx, a, b, out);
}

Tensor& mul_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "mul.Scalar_out");
  ET_KERNEL_CHECK(ctx, out.scalar_type() == result_type(a, b), InvalidArgument, out);
  return binary_or_complex_out<op_name, Multiply>(ctx, a, b, out);
}

}  // namespace torch::executor::native
