#include "kernels/elementwise/division.h"
#include "kernels/tensors/promotion.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& floor_divide_out(KernelRuntimeContext& ctx, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "floor_divide.out");
  return division_out<op_name>(
      ctx, a, b, result_type(a, b),
      [](auto x, auto y, const auto& fmod) KERNELS_ALWAYS_INLINE { return divide_floor(x, y, fmod); }, out);
}

}  // namespace torch::executor::native
