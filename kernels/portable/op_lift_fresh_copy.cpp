#include "kernels/copy/view_copy.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& lift_fresh_copy_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  return view_copy(ctx, ConstStridedView(in), out);
}

}  // namespace torch::executor::native
