#include "kernels/elementwise/binary.h"
#include "kernels/math/extremes.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
struct Smaller {
  T operator()(T x, T y) const { return smaller(x, y); }
};

}  // namespace

Tensor& minimum_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "minimum.out");
  return binary_out<op_name, Smaller>(ctx, a, b, out);
}

}  // namespace torch::executor::native
