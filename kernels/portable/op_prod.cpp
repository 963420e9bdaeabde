#include "kernels/reduce/reduction.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The product. For Bools, whether all are true.
template <typename T>
struct Product {
  using Argument = T;
  using Accumulator = T;
  using Result = T;

  T start() const { return 1; }
  void add(T& product, T value) const { product = static_cast<T>(product * value); }
  void merge(T& product, T other) const { product = static_cast<T>(product * other); }
  T finish(T product) const { return product; }
};

template <ET_OPERATOR_NAME_TYPE op_name>
Tensor& reduce_by_product(KernelRuntimeContext& ctx, const Tensor& in, const DimSet& dims, bool keepdim,
                          std::optional<ScalarType> dtype, Tensor& out) {
  // Common dtype: as in PyTorch, the dtype of out if `dtype` is missing.
  const ScalarType common_type = dtype.value_or(out.scalar_type());

  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()) && is_supported(common_type), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == common_type, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_reduction(out, in, dims, keepdim), InvalidArgument, out);

  // Compute
  ET_SWITCH_REALB_TYPES(compute_type(common_type), ctx, op_name, CTYPE,
                        [&] { reduce(Product<CTYPE>{}, in, dims, out); });
  return out;
}

}  // namespace

Tensor& prod_int_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim, bool keepdim,
                     std::optional<ScalarType> dtype, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "prod.int_out");
  DimSet dims;
  ET_KERNEL_CHECK(ctx, dims.insert({&dim, 1}, in.dim()), InvalidArgument, out);
  return reduce_by_product<op_name>(ctx, in, dims, keepdim, dtype, out);
}

Tensor& prod_out(KernelRuntimeContext& ctx, const Tensor& in, std::optional<ScalarType> dtype, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "prod.out");
  const ScalarType natural_type =
      isIntegralType(in.scalar_type(), /*includeBool=*/true) ? ScalarType::Long : in.scalar_type();
  ET_KERNEL_CHECK(ctx, out.scalar_type() == dtype.value_or(natural_type), InvalidArgument, out);
  DimSet dims;
  ET_KERNEL_CHECK(ctx, dims.insert_or_all(std::nullopt, in.dim()), InvalidArgument, out);
  return reduce_by_product<op_name>(ctx, in, dims, /*keepdim=*/false, dtype, out);
}

}  // namespace torch::executor::native
