#include <optional>
#include <type_traits>

#include "kernels/reduce/lines.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
void cumulative_product(Line<T>& line) {
  // As in PyTorch, intermediate products of floats are doubles.
  std::conditional_t<std::is_same_v<T, float>, double, T> total = 1;
  line.scan([&](T* results, const T* x, int64_t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      total *= x[i];
      results[i] = static_cast<T>(total);
    }
  });
}

}  // namespace

Tensor& cumprod_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, std::optional<ScalarType> dtype,
                    Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "cumprod.out");

  // Common dtype: as in PyTorch, the dtype of out if `dtype` is missing.
  const ScalarType common_type = dtype.value_or(out.scalar_type());

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()) && is_supported(common_type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, common_type != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == common_type, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute
  ET_SWITCH_REAL_TYPES(compute_type(common_type), ctx, op_name, CTYPE,
                       [&] { apply_to_lines<CTYPE>(&cumulative_product<CTYPE>, in, dim, out); });
  return out;
}

}  // namespace torch::executor::native
