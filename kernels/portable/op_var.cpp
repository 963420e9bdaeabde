#include <optional>

#include "kernels/reduce/variance.h"
#include "kernels/tensors/scalar.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& var_out(KernelRuntimeContext& ctx, const Tensor& in, std::optional<ArrayRef<int64_t>> dim_list, bool unbiased,
                bool keepdim, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "var.out");
  return variance_out<op_name>(ctx, in, dim_list, unbiased ? 1 : 0, keepdim, out);
}

Tensor& var_correction_out(KernelRuntimeContext& ctx, const Tensor& in, std::optional<ArrayRef<int64_t>> dim_list,
                           const std::optional<Scalar>& correction, bool keepdim, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "var.correction_out");
  return variance_out<op_name>(ctx, in, dim_list, correction ? scalar_cast<double>(*correction) : 1, keepdim, out);
}

}  // namespace torch::executor::native
