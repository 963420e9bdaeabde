#include <cstdint>
#include <optional>

#include "kernels/images/pooling.h"
#include "kernels/images/volumes.h"
#include "kernels/images/windows.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& avg_pool3d_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> kernel_size,
                       ArrayRef<int64_t> stride, ArrayRef<int64_t> padding, bool ceil_mode, bool count_include_pad,
                       std::optional<int64_t> divisor_override, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "avg_pool3d.out");

  // Check
  const ScalarType type = in.scalar_type();
  const int64_t dilation = 1;
  PoolingDim dims[3];
  ET_KERNEL_CHECK(ctx, type == ScalarType::Float || type == ScalarType::Double || type == ScalarType::Long,
                  InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, divisor_override.value_or(1) != 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, init_pooling(dims, 3, in, kernel_size, stride, padding, {&dilation, 1}, ceil_mode),
                  InvalidArgument, out);
  for (const PoolingDim& dim : dims) {
    ET_KERNEL_CHECK(ctx, dim.in_size >= dim.kernel, InvalidArgument, out);
  }

  // Resize
  ET_KERNEL_CHECK(ctx, resize_pooled(out, in, dims, 3), InvalidArgument, out);

  // Compute
  const int64_t work = dims[0].kernel * dims[1].kernel * dims[2].kernel;
  ET_SWITCH_FLOAT_TYPES_AND(Long, type, ctx, op_name, CTYPE, [&] {
    average_volumes<CTYPE>(
        as_volumes(ConstStridedView(in), 3), as_volumes(StridedView(out), 3), work,
        [&](int64_t d, int64_t i) { return Window{dims[d].first(i), dims[d].last(i)}; },
        [&](CTYPE sum, const int64_t (&at)[3]) {
          const int64_t count = average_count(dims, at, 3, count_include_pad);
          return count > 0 ? divided(sum, divisor_override.value_or(count)) : CTYPE(0);
        });
  });
  return out;
}

}  // namespace torch::executor::native
