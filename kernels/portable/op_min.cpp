#include <tuple>

#include "kernels/reduce/extreme_reduction.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

std::tuple<Tensor&, Tensor&> min_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, bool keepdim,
                                     Tensor& out, Tensor& indices) {
  ET_DEFINE_OPERATOR_NAME(op_name, "min.dim_min");
  std::tuple<Tensor&, Tensor&> results(out, indices);
  DimSet dims;
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, dims.insert({&dim, 1}, in.dim()), InvalidArgument, results);
  extreme_out<op_name, /*kLargest=*/false>(ctx, in, dims, keepdim, out);
  if (ctx.failure_state() == Error::Ok) {
    extreme_index_out<op_name, /*kLargest=*/false>(ctx, in, dims, keepdim, indices);
  }
  return results;
}

Tensor& min_unary_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "min.unary_out");
  DimSet dims;
  ET_KERNEL_CHECK(ctx, dims.insert_or_all(std::nullopt, in.dim()), InvalidArgument, out);
  return extreme_out<op_name, /*kLargest=*/false>(ctx, in, dims, /*keepdim=*/false, out);
}

}  // namespace torch::executor::native
