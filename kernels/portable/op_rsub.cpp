#include "kernels/elementwise/binary.h"
#include "kernels/tensors/promotion.h"
#include "kernels/tensors/scalar.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
struct SubtractFrom {
  T factor;
  T operator()(T x, T y) const { return static_cast<T>(y - factor * x); }
};

}  // namespace

Tensor& rsub_scalar_out(KernelRuntimeContext& ctx, const Tensor& a, const Scalar& b, const Scalar& alpha, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "rsub.Scalar_out");

  // Check: as in PyTorch, no subtraction of Bools.
  ET_KERNEL_CHECK(ctx, a.scalar_type() != ScalarType::Bool && !b.isBoolean(), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == result_type(a, b), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, alpha_is_valid(alpha, result_type(a, b)), InvalidArgument, out);

  return binary_out<op_name, SubtractFrom>(ctx, a, b, out, alpha);
}

}  // namespace torch::executor::native
