#include <algorithm>
#include <cstdint>
#include <optional>

#include "kernels/images/pooling.h"
#include "kernels/images/volumes.h"
#include "kernels/images/windows.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& avg_pool2d_backward_out(KernelRuntimeContext& ctx, const Tensor& gradient, const Tensor& in,
                                ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                                bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override,
                                Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "avg_pool2d_backward.grad_input");

  // Check
  const ScalarType type = in.scalar_type();
  const int64_t dilation = 1;
  PoolingDim dims[3] = {{1, 1, 1, 0, 1, 1}};  // the depth of images
  ET_KERNEL_CHECK(ctx, isFloatingType(type) || type == ScalarType::Long, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, gradient, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, divisor_override.value_or(1) != 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, init_pooling(dims + 1, 2, in, kernel_size, stride, padding, {&dilation, 1}, ceil_mode),
                  InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, gradient.dim() == in.dim(), InvalidArgument, out);
  for (int64_t d = 0; d < in.dim(); ++d) {
    const int64_t size = d < in.dim() - 2 ? in.size(d) : dims[3 - in.dim() + d].out_size;
    ET_KERNEL_CHECK(ctx, gradient.size(d) == size, InvalidArgument, out);
  }

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  const auto covering = [&](int64_t d, int64_t x) {
    const PoolingDim& dim = dims[d];
    const int64_t position = x + dim.padding;
    const int64_t first = position < dim.kernel ? 0 : (position - dim.kernel) / dim.stride + 1;
    return Window{first, std::min(position / dim.stride + 1, dim.out_size)};
  };
  const auto count = [&](const int64_t (&at)[3]) {
    return divisor_override.value_or(average_count(dims, at, 3, count_include_pad));
  };
  ET_SWITCH_FLOAT_TYPES_AND(Long, compute_type(type), ctx, op_name, CTYPE, [&] {
    spread_averages<CTYPE>(as_volumes(ConstStridedView(gradient), 2), as_volumes(StridedView(out), 2), /*work=*/8,
                           covering, count);
  });
  return out;
}

}  // namespace torch::executor::native
