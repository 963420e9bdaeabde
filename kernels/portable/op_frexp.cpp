#include <cmath>
#include <cstdint>
#include <tuple>

#include "kernels/elementwise/elementwise.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

std::tuple<Tensor&, Tensor&> frexp_Tensor_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& mantissa,
                                              Tensor& exponent) {
  ET_DEFINE_OPERATOR_NAME(op_name, "frexp.Tensor_out");
  std::tuple<Tensor&, Tensor&> results(mantissa, exponent);

  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, mantissa), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, exponent.scalar_type() == ScalarType::Int, InvalidArgument, results);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(mantissa, in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_like(exponent, in), InvalidArgument, results);

  // Compute: the mantissas last, since they may have the memory of the input.
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    elementwise(
        [](CTYPE x) -> int32_t {
          // C leaves the exponent of infinities and NaN open.
          int power = 0;
          return std::isfinite(x) ? (std::frexp(x, &power), power) : 0;
        },
        exponent, in);
    elementwise(
        [](CTYPE x) -> CTYPE {
          int power;
          return std::frexp(x, &power);
        },
        mantissa, in);
  });
  return results;
}

}  // namespace torch::executor::native
