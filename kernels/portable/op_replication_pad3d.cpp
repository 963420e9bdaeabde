#include "kernels/images/padding.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& replication_pad3d_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> padding, Tensor& out) {
  return pad_out(ctx, in, padding, /*rank=*/3, PaddingMode::kReplication, out);
}

}  // namespace torch::executor::native
