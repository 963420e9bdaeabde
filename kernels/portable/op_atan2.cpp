#include <cmath>

#include "kernels/common/binary.h"
#include "kernels/common/promotion.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
struct Atan2 {
  T operator()(T y, T x) const { return std::atan2(y, x); }
};

}  // namespace

Tensor& atan2_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "atan2.out");
  return binary_float_out<op_name, Atan2>(ctx, a, b, result_type(a, b), out);
}

}  // namespace torch::executor::native
