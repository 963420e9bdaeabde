#include "kernels/images/adaptive_pooling.h"
#include "kernels/images/volumes.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& _adaptive_avg_pool3d_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> output_size,
                                 Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_adaptive_avg_pool3d.out");

  // Check
  AdaptivePooling pooling;
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, pooling.init(in, output_size, 3), InvalidArgument, out);
  // As PyTorch: only the first dimension may be empty, the batch or the channels of a single volume.
  ET_KERNEL_CHECK(ctx, in.dim() == 4 || in.sizes()[1] > 0, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, pooling.resize(out, in, 3), InvalidArgument, out);

  // Compute
  const auto window = [&](int64_t d, int64_t i) { return pooling.window(d, i); };
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    average_volumes<CTYPE>(as_volumes(ConstStridedView(in), 3), as_volumes(StridedView(out), 3), pooling.work(), window,
                           [&](CTYPE sum, const int64_t (&at)[3]) {
                             for (int64_t d = 0; d < 3; ++d) {
                               const Window range = window(d, at[d]);
                               sum /= static_cast<CTYPE>(range.end - range.begin);
                             }
                             return sum;
                           });
  });
  return out;
}

}  // namespace torch::executor::native
