#include <optional>

#include "kernels/reduce/extreme_reduction.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& argmin_out(KernelRuntimeContext& ctx, const Tensor& in, std::optional<int64_t> dim, bool keepdim, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "argmin.out");
  DimSet dims;
  ET_KERNEL_CHECK(ctx, in.scalar_type() != ScalarType::Bool, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, dim ? dims.insert({&*dim, 1}, in.dim()) : dims.insert_or_all(std::nullopt, in.dim()),
                  InvalidArgument, out);
  return extreme_index_out<op_name, /*kLargest=*/false>(ctx, in, dims, keepdim, out);
}

}  // namespace torch::executor::native
