#include <optional>

#include "kernels/reduce/cumulative.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& cumprod_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, std::optional<ScalarType> dtype,
                    Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "cumprod.out");
  return cumulative_out<op_name>(ctx, in, dim, dtype, out, /*start=*/1, [](auto& total, auto x) { total *= x; });
}

}  // namespace torch::executor::native
