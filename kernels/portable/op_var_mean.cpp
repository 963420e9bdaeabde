#include <optional>
#include <tuple>

#include "kernels/reduce/mean.h"
#include "kernels/reduce/reduction.h"
#include "kernels/reduce/variance.h"
#include "kernels/tensors/scalar.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

std::tuple<Tensor&, Tensor&> var_mean_correction_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                     std::optional<ArrayRef<int64_t>> dim_list,
                                                     const std::optional<Scalar>& correction, bool keepdim,
                                                     Tensor& variance, Tensor& mean) {
  ET_DEFINE_OPERATOR_NAME(op_name, "var_mean.correction_out");
  std::tuple<Tensor&, Tensor&> results(variance, mean);
  variance_out<op_name>(ctx, in, dim_list, correction ? scalar_cast<double>(*correction) : 1, keepdim, variance);
  if (ctx.failure_state() != Error::Ok) {
    return results;
  }

  // Check
  ET_KERNEL_CHECK(ctx, can_store(in.scalar_type(), mean.scalar_type()), InvalidArgument, results);
  DimSet dims;
  ET_KERNEL_CHECK(ctx, dims.insert_or_all(dim_list, in.dim()), InvalidArgument, results);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_reduction(mean, in, dims, keepdim), InvalidArgument, results);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                        [&] { reduce(Mean<CTYPE>{static_cast<CTYPE>(reduced_numel(in, dims))}, in, dims, mean); });
  return results;
}

}  // namespace torch::executor::native
