#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/reduce/reduction.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

namespace internal {

/// The mean and the sum of squared differences from the mean, by Welford's method, which does not subtract large
/// numbers. The computation is in double, as in PyTorch.
template <typename T>
struct Variance {
  struct Accumulator {
    double count;
    double mean;
    double squares;
  };
  using Argument = T;
  using Result = T;

  double correction;

  Accumulator start() const { return {0, 0, 0}; }
  void add(Accumulator& total, T value) const {
    const double delta = value - total.mean;
    total.count += 1;
    total.mean += delta / total.count;
    total.squares += delta * (value - total.mean);
  }
  void merge(Accumulator& total, const Accumulator& other) const {
    if (other.count == 0) {
      return;
    }
    const double delta = other.mean - total.mean;
    const double count = total.count + other.count;
    const double share = other.count / count;
    total.mean += delta * share;
    total.squares += other.squares + delta * delta * total.count * share;
    total.count = count;
  }
  T finish(const Accumulator& total) const {
    // The variance of an empty set is NaN for all corrections.
    return static_cast<T>(total.squares / (total.count > 0 ? std::fmax(total.count - correction, 0) : 0));
  }
};

}  // namespace internal

/// The variance along the dimensions `dims`, for floating-point dtypes: the sum of squared differences divided by
/// (number of values - correction).
template <ET_OPERATOR_NAME_TYPE op_name>
Tensor& variance_out(KernelRuntimeContext& ctx, const Tensor& in, const std::optional<ArrayRef<int64_t>>& dim_list,
                     double correction, bool keepdim, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, can_store(in.scalar_type(), out.scalar_type()), InvalidArgument, out);
  DimSet dims;
  ET_KERNEL_CHECK(ctx, dims.insert_or_all(dim_list, in.dim()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_reduction(out, in, dims, keepdim), InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                        [&] { reduce(internal::Variance<CTYPE>{correction}, in, dims, out); });
  return out;
}

}  // namespace rules_executorch::kernels
