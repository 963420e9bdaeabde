#include "kernels/elementwise/elementwise.h"
#include "kernels/tensors/resize.h"
#include "kernels/tensors/scalar.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Whether `bound` is valid for elements of `type`. For integer dtypes, a fraction is truncated.
bool bound_fits(const Scalar& bound, ScalarType type) {
  if (!isIntegralType(type, false)) {
    return scalar_fits(bound, type);
  }
  ET_LOG_AND_RETURN_IF_FALSE(scalar_fits(bound, ScalarType::Long));
  const int64_t integer = scalar_cast<int64_t>(bound);
  return scalar_fits(Scalar(integer), type) && (type != ScalarType::Byte || integer >= 0);
}

}  // namespace

Tensor& hardtanh_out(KernelRuntimeContext& ctx, const Tensor& in, const Scalar& min, const Scalar& max, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "hardtanh.out");

  // Common dtype: the bounds do not affect the dtype.
  const ScalarType common_type = in.scalar_type();

  // Check
  ET_KERNEL_CHECK(ctx, common_type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, bound_fits(min, common_type) && bound_fits(max, common_type), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_REALHBF16_TYPES(common_type, ctx, op_name, CTYPE, [&] {
    const CTYPE low = scalar_cast<CTYPE>(min);
    const CTYPE high = scalar_cast<CTYPE>(max);
    // If a bound is NaN, all results are NaN. The addition of -0 changes no result.
    const CTYPE term = low != low ? low : high != high ? high : static_cast<CTYPE>(-0.0);
    elementwise(
        [low, high, term](CTYPE x) -> CTYPE {
          const CTYPE raised = x < low ? low : x;
          return static_cast<CTYPE>((raised > high ? high : raised) + term);
        },
        out, in);
  });
  return out;
}

}  // namespace torch::executor::native
