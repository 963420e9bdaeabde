#include "kernels/reduce/reduction.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

struct Any {
  using Argument = bool;  // all dtypes are converted to Bool
  using Accumulator = bool;
  using Result = bool;

  bool start() const { return false; }
  void add(bool& any, bool value) const { any |= value; }
  void merge(bool& any, bool other) const { any |= other; }
  bool finish(bool any) const { return any; }
};

Tensor& any_over(KernelRuntimeContext& ctx, const Tensor& in, const DimSet& dims, bool keepdim, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == ScalarType::Bool || out.scalar_type() == ScalarType::Byte, InvalidArgument,
                  out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_reduction(out, in, dims, keepdim), InvalidArgument, out);

  // Compute
  reduce(Any{}, in, dims, out);
  return out;
}

}  // namespace

Tensor& any_all_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  DimSet dims;
  ET_KERNEL_CHECK(ctx, dims.insert_or_all(std::nullopt, in.dim()), InvalidArgument, out);
  return any_over(ctx, in, dims, /*keepdim=*/false, out);
}

Tensor& any_dims_out(KernelRuntimeContext& ctx, const Tensor& in, std::optional<ArrayRef<int64_t>> dim_list,
                     bool keepdim, Tensor& out) {
  DimSet dims;
  // Unlike in most reductions, an empty list reduces no dimensions.
  ET_KERNEL_CHECK(ctx, dim_list ? dims.insert(*dim_list, in.dim()) : dims.insert_or_all(std::nullopt, in.dim()),
                  InvalidArgument, out);
  return any_over(ctx, in, dims, keepdim, out);
}

Tensor& any_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, bool keepdim, Tensor& out) {
  DimSet dims;
  ET_KERNEL_CHECK(ctx, dims.insert({&dim, 1}, in.dim()), InvalidArgument, out);
  return any_over(ctx, in, dims, keepdim, out);
}

}  // namespace torch::executor::native
