#include <type_traits>

#include "kernels/elementwise/unary.h"
#include "kernels/math/vector_math.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& trunc_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "trunc.out");
  return unary_out<op_name>(ctx, in, out, wide([](auto x) KERNELS_ALWAYS_INLINE {
                              if constexpr (std::is_floating_point_v<decltype(x)>) {
                                return math::trunc(x);
                              } else {
                                return x;
                              }
                            }));
}

}  // namespace torch::executor::native
