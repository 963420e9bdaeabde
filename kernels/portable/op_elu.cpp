#include <cmath>

#include "kernels/elementwise/elementwise.h"
#include "kernels/math/vector_math.h"
#include "kernels/tensors/resize.h"
#include "kernels/tensors/scalar.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& elu_out(KernelRuntimeContext& ctx, const Tensor& in, const Scalar& alpha, const Scalar& scale,
                const Scalar& input_scale, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "elu.out");

  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  for (const Scalar* factor : {&alpha, &scale, &input_scale}) {
    ET_KERNEL_CHECK(ctx, scalar_fits(*factor, compute_type(in.scalar_type())), InvalidArgument, out);
  }

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    const CTYPE positive = scalar_cast<CTYPE>(scale);
    const CTYPE negative = scalar_cast<CTYPE>(alpha) * positive;
    const CTYPE exponent = scalar_cast<CTYPE>(input_scale);
    elementwise(wide([=](CTYPE x) KERNELS_ALWAYS_INLINE -> CTYPE {
                  const CTYPE below = math::expm1(x * exponent) * negative;
                  return x < 0 ? below : x * positive;
                }),
                out, in);
  });
  return out;
}

}  // namespace torch::executor::native
