#include "kernels/reduce/mean.h"
#include "kernels/reduce/reduction.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& mean_dim_out(KernelRuntimeContext& ctx, const Tensor& in, std::optional<ArrayRef<int64_t>> dim_list,
                     bool keepdim, std::optional<ScalarType> dtype, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "mean.out");

  // Common dtype: as in PyTorch, the dtype of out if `dtype` is missing.
  const ScalarType common_type = dtype.value_or(out.scalar_type());

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, isFloatingType(dtype.value_or(in.scalar_type())), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, isFloatingType(common_type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == common_type, InvalidArgument, out);
  DimSet dims;
  ET_KERNEL_CHECK(ctx, dims.insert_or_all(dim_list, in.dim()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_reduction(out, in, dims, keepdim), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(common_type), ctx, op_name, CTYPE,
                        [&] { reduce(Mean<CTYPE>{static_cast<CTYPE>(reduced_numel(in, dims))}, in, dims, out); });
  return out;
}

Tensor& mean_dtype_out(KernelRuntimeContext& ctx, const Tensor& in, std::optional<ScalarType> dtype, Tensor& out) {
  return mean_dim_out(ctx, in, std::nullopt, /*keepdim=*/false, dtype, out);
}

}  // namespace torch::executor::native
