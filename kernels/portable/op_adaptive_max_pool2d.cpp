#include <tuple>

#include "kernels/images/adaptive_max_pool.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

std::tuple<Tensor&, Tensor&> adaptive_max_pool2d_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                     ArrayRef<int64_t> output_size, Tensor& out, Tensor& indices) {
  ET_DEFINE_OPERATOR_NAME(op_name, "adaptive_max_pool2d.out");
  adaptive_max_pool_out<op_name>(ctx, in, output_size, 2, out, indices);
  return {out, indices};
}

}  // namespace torch::executor::native
