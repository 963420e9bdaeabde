#pragma once

#include <cstdint>
#include <limits>

#include "kernels/common/dtype.h"
#include "kernels/common/extremes.h"
#include "kernels/common/reduction.h"

namespace rules_executorch::kernels {

namespace internal {

/// What every value is more extreme than, or equal to.
template <typename T, bool kLargest>
constexpr T least_extreme() {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) {
    return kLargest ? -Limits::infinity() : Limits::infinity();
  } else {
    return kLargest ? Limits::lowest() : Limits::max();
  }
}

/// The largest or the smallest value; NaN where there is one.
template <typename T, bool kLargest>
struct Extreme {
  using Argument = T;
  using Accumulator = T;
  using Result = T;

  T start() const { return least_extreme<T, kLargest>(); }
  void add(T& best, T value, int64_t) const { best = kLargest ? larger(best, value) : smaller(best, value); }
  void merge(T& best, T other) const { add(best, other, 0); }
  T finish(T best) const { return best; }
};

/// The index of the largest or the smallest value, the first of several; of the first NaN where there is one.
template <typename T, bool kLargest>
struct ExtremeIndex {
  struct Accumulator {
    T value;
    int64_t index;  // -1 before the first value
  };
  using Argument = T;
  using Result = int64_t;

  Accumulator start() const { return {least_extreme<T, kLargest>(), -1}; }
  void add(Accumulator& best, T value, int64_t index) const {
    const bool is_better = kLargest ? value > best.value : value < best.value;
    const bool is_equal = value == best.value || (value != value && best.value != best.value);
    const bool is_first_nan = value != value && best.value == best.value;
    if (is_better || is_first_nan || (is_equal && index < best.index) || best.index < 0) {
      best = {value, index};
    }
  }
  void merge(Accumulator& best, const Accumulator& other) const {
    if (other.index >= 0) {
      add(best, other.value, other.index);
    }
  }
  int64_t finish(const Accumulator& best) const { return best.index; }
};

}  // namespace internal

/// Resizes `out` for a reduction of dimensions that hold values: nothing has no largest value.
inline bool resize_to_extreme(Tensor& out, const Tensor& in, const DimSet& dims, bool keepdim) {
  ET_CHECK_OR_RETURN_FALSE(reduced_numel(in, dims) > 0, "nothing to choose from: a dimension is empty");
  return resize_to_reduction(out, in, dims, keepdim);
}

/// The largest (or smallest) values along the dimensions `dims`.
template <ET_OPERATOR_NAME_TYPE op_name, bool kLargest>
Tensor& extreme_out(KernelRuntimeContext& ctx, const Tensor& in, const DimSet& dims, bool keepdim, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, can_store(in.scalar_type(), out.scalar_type()), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_extreme(out, in, dims, keepdim), InvalidArgument, out);

  // Compute
  ET_SWITCH_REALB_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                        [&] { reduce(internal::Extreme<CTYPE, kLargest>{}, in, dims, out); });
  return out;
}

/// The indices of the largest (or smallest) values along the dimensions `dims`.
template <ET_OPERATOR_NAME_TYPE op_name, bool kLargest>
Tensor& extreme_index_out(KernelRuntimeContext& ctx, const Tensor& in, const DimSet& dims, bool keepdim, Tensor& out) {
  // Check
  ET_KERNEL_CHECK(ctx, is_supported(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, out.scalar_type() == ScalarType::Long, InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_extreme(out, in, dims, keepdim), InvalidArgument, out);

  // Compute
  ET_SWITCH_REALB_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE,
                        [&] { reduce(internal::ExtremeIndex<CTYPE, kLargest>{}, in, dims, out); });
  return out;
}

}  // namespace rules_executorch::kernels
