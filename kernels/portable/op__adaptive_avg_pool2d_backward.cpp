#include <cstdint>

#include "kernels/images/volumes.h"
#include "kernels/images/windows.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& _adaptive_avg_pool2d_backward_out(KernelRuntimeContext& ctx, const Tensor& gradient, const Tensor& in,
                                          Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_adaptive_avg_pool2d_backward.out");

  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, gradient, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, (in.dim() == 3 || in.dim() == 4) && gradient.dim() == in.dim(), InvalidArgument, out);
  for (int64_t d = 0; d < in.dim(); ++d) {
    const bool is_image = d >= in.dim() - 2;
    ET_KERNEL_CHECK(ctx, is_image || gradient.size(d) == in.size(d), InvalidArgument, out);
    ET_KERNEL_CHECK(ctx, d == in.dim() - 4 || gradient.size(d) > 0, InvalidArgument, out);
  }

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute: the results whose windows have a position are a window, too.
  const ConstStridedView source = as_volumes(ConstStridedView(gradient), 2);
  const StridedView target = as_volumes(StridedView(out), 2);
  const auto covering = [&](int64_t d, int64_t x) {
    return adaptive_window(x, source.sizes[2 + d], target.sizes[2 + d]);
  };
  const auto count = [&](const int64_t (&at)[3]) {
    int64_t product = 1;
    for (int64_t d = 0; d < 3; ++d) {
      const Window window = adaptive_window(at[d], target.sizes[2 + d], source.sizes[2 + d]);
      product *= window.end - window.begin;
    }
    return product;
  };
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                        [&] { spread_averages<CTYPE>(source, target, /*work=*/8, covering, count); });
  return out;
}

}  // namespace torch::executor::native
