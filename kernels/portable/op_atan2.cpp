#include "kernels/elementwise/binary.h"
#include "kernels/math/vector_math.h"
#include "kernels/tensors/promotion.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
struct Atan2 {
  static constexpr bool kWide = true;

  KERNELS_ALWAYS_INLINE T operator()(T y, T x) const { return math::atan2(y, x); }
};

}  // namespace

Tensor& atan2_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "atan2.out");
  return binary_float_out<op_name, Atan2>(ctx, a, b, result_type(a, b), out);
}

}  // namespace torch::executor::native
