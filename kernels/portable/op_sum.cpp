#include "kernels/reduce/reduction.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The sum. For Bools, whether one of them is true.
template <typename T>
struct SumReduction {
  using Argument = T;
  using Accumulator = T;
  using Result = T;

  T start() const { return 0; }
  void add(T& total, T value) const { total = static_cast<T>(total + value); }
  void merge(T& total, T other) const { total = static_cast<T>(total + other); }
  T finish(T total) const { return total; }
};

}  // namespace

Tensor& sum_dim_out(KernelRuntimeContext& ctx, const Tensor& in, std::optional<ArrayRef<int64_t>> dim_list,
                    bool keepdim, std::optional<ScalarType> dtype, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "sum.IntList_out");

  // Common dtype: as in PyTorch, the dtype of out if `dtype` is missing.
  const ScalarType common_type = dtype.value_or(out.scalar_type());

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()) || isComplexType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == common_type, InvalidArgument, out);
  DimSet dims;
  ET_KERNEL_CHECK(ctx, dims.insert_or_all(dim_list, in.dim()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_reduction(out, in, dims, keepdim), InvalidArgument, out);

  // Compute
  KERNELS_SWITCH_REALB_AND_COMPLEX_TYPES(compute_type(common_type), ctx, op_name, CTYPE,
                                         [&] { reduce(SumReduction<CTYPE>{}, in, dims, out); });
  return out;
}

}  // namespace torch::executor::native
