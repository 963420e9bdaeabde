#include <cstdint>

#include "kernels/elementwise/elementwise.h"
#include "kernels/math/gelu.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& gelu_out(KernelRuntimeContext& ctx, const Tensor& in, std::string_view approximate, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "gelu.out");

  // Check
  const bool with_tanh = approximate == "tanh";
  ET_KERNEL_CHECK(ctx, with_tanh || approximate == "none", InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    if (with_tanh) {
      elementwise([](int64_t n, CTYPE* results, const CTYPE* x) { math::gelu_tanh(n, results, x); }, out, in);
    } else {
      elementwise([](int64_t n, CTYPE* results, const CTYPE* x) { math::gelu(n, results, x); }, out, in);
    }
  });
  return out;
}

}  // namespace torch::executor::native
