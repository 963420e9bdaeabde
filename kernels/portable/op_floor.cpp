#include <cmath>
#include <type_traits>

#include "kernels/elementwise/unary.h"
#include "kernels/math/vector_math.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& floor_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "floor.out");
  return unary_out<op_name>(ctx, in, out, wide([](auto x) KERNELS_ALWAYS_INLINE {
                              if constexpr (std::is_same_v<decltype(x), float>) {
                                return std::floor(x);  // wide vectors have an instruction for std::floor
                              } else if constexpr (std::is_floating_point_v<decltype(x)>) {
                                return math::floor(x);
                              } else {
                                return x;
                              }
                            }));
}

}  // namespace torch::executor::native
