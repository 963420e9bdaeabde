#include "kernels/common/elementwise.h"
#include "kernels/common/resize.h"
#include "kernels/common/vector_math.h"
#include "kernels/common/vectorize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& gelu_out(KernelRuntimeContext& ctx, const Tensor& in, std::string_view approximate, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "gelu.out");

  // Check
  const bool with_tanh = approximate == "tanh";
  ET_KERNEL_CHECK(ctx, with_tanh || approximate == "none", InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(in.scalar_type(), out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    constexpr CTYPE kSqrtHalf = static_cast<CTYPE>(0.707106781186547524401);
    constexpr CTYPE kSqrtTwoOverPi = static_cast<CTYPE>(0.797884560802865355880);
    constexpr CTYPE kCubic = static_cast<CTYPE>(0.044715);
    if (with_tanh) {
      elementwise(wide([](CTYPE x) KERNELS_ALWAYS_INLINE -> CTYPE {
                    return CTYPE(0.5) * x * (1 + math::tanh(kSqrtTwoOverPi * (x + kCubic * x * x * x)));
                  }),
                  out, in);
    } else {
      elementwise(
          wide([](CTYPE x) KERNELS_ALWAYS_INLINE -> CTYPE { return x * CTYPE(0.5) * (1 + math::erf(x * kSqrtHalf)); }),
          out, in);
    }
  });
  return out;
}

}  // namespace torch::executor::native
