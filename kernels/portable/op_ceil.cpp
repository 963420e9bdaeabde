#include <cmath>
#include <type_traits>

#include "kernels/elementwise/unary.h"
#include "kernels/math/vector_math.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& ceil_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "ceil.out");
  return unary_out<op_name>(ctx, in, out, wide([](auto x) KERNELS_ALWAYS_INLINE {
                              if constexpr (std::is_same_v<decltype(x), float>) {
                                return std::ceil(x);  // wide vectors have an instruction for std::ceil
                              } else if constexpr (std::is_floating_point_v<decltype(x)>) {
                                return math::ceil(x);
                              } else {
                                return x;
                              }
                            }));
}

}  // namespace torch::executor::native
