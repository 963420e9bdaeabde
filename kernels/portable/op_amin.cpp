#include "kernels/reduce/extreme_reduction.h"
#include "kernels/tensors/dims.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

Tensor& amin_out(KernelRuntimeContext& ctx, const Tensor& in, ArrayRef<int64_t> dim_list, bool keepdim, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "amin.out");
  DimSet dims;
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, dims.insert_or_all(dim_list, in.dim()), InvalidArgument, out);
  return extreme_out<op_name, /*kLargest=*/false>(ctx, in, dims, keepdim, out);
}

}  // namespace torch::executor::native
