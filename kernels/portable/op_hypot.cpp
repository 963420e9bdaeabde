#include <cmath>

#include "kernels/elementwise/binary.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
struct Hypot {
  T operator()(T x, T y) const { return std::hypot(x, y); }
};

}  // namespace

Tensor& hypot_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "hypot.out");
  const ScalarType common_type = result_type(a, b);
  ET_KERNEL_CHECK(ctx, isFloatingType(common_type), InvalidArgument, out);
  return binary_float_out<op_name, Hypot>(ctx, a, b, common_type, out);
}

}  // namespace torch::executor::native
