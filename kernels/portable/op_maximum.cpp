#include "kernels/elementwise/binary.h"
#include "kernels/math/extremes.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
struct Larger {
  T operator()(T x, T y) const { return larger(x, y); }
};

}  // namespace

Tensor& maximum_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "maximum.out");
  return binary_out<op_name, Larger>(ctx, a, b, out);
}

}  // namespace torch::executor::native
