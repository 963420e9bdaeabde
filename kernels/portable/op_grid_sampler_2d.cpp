#include "kernels/images/grid_sampling.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& grid_sampler_2d_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& grid, int64_t interpolation,
                            int64_t padding, bool align_corners, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "grid_sampler_2d.out");
  return grid_sampler_out<op_name>(ctx, in, grid, 2, interpolation, padding, align_corners, out);
}

}  // namespace torch::executor::native
