#include "kernels/elementwise/random.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& randn_out(KernelRuntimeContext& ctx, ArrayRef<int64_t> size, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "randn.out");

  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_size(out, size), InvalidArgument, out);

  // Compute
  const RandomNumbers numbers;
  ET_SWITCH_FLOAT_TYPES(compute_type(out.scalar_type()), ctx, op_name, CTYPE, [&] {
    write_random<CTYPE>(out, [&](uint64_t first, int64_t n, CTYPE* values) { numbers.normal(first, n, values); });
  });
  return out;
}

}  // namespace torch::executor::native
