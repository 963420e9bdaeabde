#include <optional>

#include "kernels/images/average_pool.h"
#include "kernels/images/pooling.h"
#include "kernels/images/windows.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& avg_pool2d_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> kernel_size,
                       ArrayRef<int64_t> stride, ArrayRef<int64_t> padding, bool ceil_mode, bool count_include_pad,
                       std::optional<int64_t> divisor_override, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "avg_pool2d.out");

  // Check
  const ScalarType type = in.scalar_type();
  const int64_t dilation = 1;
  Pooling pooling;
  ET_KERNEL_CHECK(ctx, isFloatingType(type) || type == ScalarType::Long, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, divisor_override.value_or(1) != 0, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, pooling.init(in, kernel_size, stride, padding, {&dilation, 1}, ceil_mode), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, pooling.resize(out, in), InvalidArgument, out);

  // Compute
  const PoolingDim& h = pooling.h;
  const PoolingDim& w = pooling.w;
  const PoolingDim dims[] = {h, w};
  ET_SWITCH_FLOAT_TYPES_AND(Long, compute_type(type), ctx, op_name, CTYPE, [&] {
    average_windows<CTYPE>(
        in, out, h.kernel * w.kernel, [&](int64_t i) { return Window{h.first(i), h.last(i)}; },
        [&](int64_t j) { return Window{w.first(j), w.last(j)}; },
        [&](CTYPE sum, int64_t i, int64_t j) {
          const int64_t at[] = {i, j};
          const int64_t count = average_count(dims, at, 2, count_include_pad);
          return count > 0 ? divided(sum, divisor_override.value_or(count)) : CTYPE(0);
        });
  });
  return out;
}

}  // namespace torch::executor::native
