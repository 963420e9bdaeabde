#include "kernels/elementwise/elementwise.h"
#include "kernels/math/select.h"
#include "kernels/tensors/promotion.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& where_out(KernelRuntimeContext& ctx, const Tensor& condition, const Tensor& a, const Tensor& b, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "where.self_out");

  // Common dtype
  const ScalarType common_type = result_type(a, b);

  // Check
  ET_KERNEL_CHECK(ctx, condition.scalar_type() == ScalarType::Bool || condition.scalar_type() == ScalarType::Byte,
                  InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, is_supported(common_type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == common_type, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_broadcast(out, condition, a, b), InvalidArgument, out);

  // Compute
  ET_SWITCH_REALHBBF16_TYPES(common_type, ctx, op_name, CTYPE, [&] {
    elementwise([](bool c, CTYPE x, CTYPE y) -> CTYPE { return select(c, x, y); }, out, condition, a, b);
  });
  return out;
}

}  // namespace torch::executor::native
