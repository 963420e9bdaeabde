#include <optional>
#include <tuple>

#include "kernels/copy/copy.h"
#include "kernels/copy/fill.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/random.h"
#include "kernels/math/vectorize.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

std::tuple<Tensor&, Tensor&> native_dropout_out(KernelRuntimeContext& ctx, const Tensor& in, double p,
                                                std::optional<bool> train, Tensor& out, Tensor& mask) {
  ET_DEFINE_OPERATOR_NAME(op_name, "native_dropout.out");
  std::tuple<Tensor&, Tensor&> results(out, mask);
  const bool drops = train.value_or(true);

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, !drops || isFloatingType(in.scalar_type()), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, !drops || (p >= 0 && p <= 1), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, mask.scalar_type() == ScalarType::Bool, InvalidArgument, results);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in) && resize_like(mask, in), InvalidArgument, results);

  // Compute
  if (!drops) {
    copy(in, out);
    fill(StridedView(mask), true);
    return results;
  }
  const RandomNumbers numbers;
  write_random<double>(mask, [&](uint64_t first, int64_t n, double* values) {
    numbers.uniform(first, n, digits_of(ScalarType::Double), values);
    vectorized_for(n, [values, p](int64_t i) { values[i] = values[i] >= p ? 1 : 0; });
  });
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    // The scale keeps the expected sum.
    const CTYPE scale = p == 1 ? CTYPE(0) : static_cast<CTYPE>(1 / (1 - p));
    elementwise([scale](CTYPE x, CTYPE kept) -> CTYPE { return x * kept * scale; }, out, in, mask);
  });
  return results;
}

}  // namespace torch::executor::native
