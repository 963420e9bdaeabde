#include "kernels/elementwise/binary.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/promotion.h"
#include "kernels/tensors/scalar.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
struct Add {
  T factor;
  T operator()(T x, T y) const { return static_cast<T>(x + factor * y); }
};

}  // namespace

Tensor& add_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, const Scalar& alpha, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "add.out");
  ET_KERNEL_CHECK(ctx, alpha_is_valid(alpha, result_type(a, b)), InvalidArgument, out);
  return binary_or_complex_out<op_name, Add>(ctx, a, b, out, alpha);
}

Tensor& add_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, const Scalar& alpha, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "add.Scalar_out");

  // Check
  ET_KERNEL_CHECK(ctx, out.scalar_type() == result_type(a, b), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, alpha_is_valid(alpha, result_type(a, b)), InvalidArgument, out);

  return binary_or_complex_out<op_name, Add>(ctx, a, b, out, alpha);
}

}  // namespace torch::executor::native
