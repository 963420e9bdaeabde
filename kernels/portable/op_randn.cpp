#include <optional>

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
  ET_SWITCH_FLOAT_TYPES(compute_type(out.scalar_type()), ctx, op_name, CTYPE, [&] { draw_normal<CTYPE>(out); });
  return out;
}

Tensor& randn_like_out(KernelRuntimeContext& ctx, const Tensor& in, std::optional<MemoryFormat> memory_format,
                       Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "randn_like.out");

  // Check: the program plans the memory format of out.
  (void)memory_format;
  ET_KERNEL_CHECK(ctx, isFloatingType(out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(out.scalar_type()), ctx, op_name, CTYPE, [&] { draw_normal<CTYPE>(out); });
  return out;
}

}  // namespace torch::executor::native
