#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/math/extremes.h"
#include "kernels/math/vectorize.h"
#include "kernels/reduce/reduction.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

namespace internal {

/// The start value of a reduction: no value is less extreme.
template <typename T, bool kLargest>
constexpr T least_extreme() {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) {
    return kLargest ? -Limits::infinity() : Limits::infinity();
  } else {
    return kLargest ? Limits::lowest() : Limits::max();
  }
}

/// Whether `value` is more extreme than `best`. Neither may be NaN.
template <bool kLargest, typename T>
inline bool is_better(T value, T best) {
  return kLargest ? value > best : value < best;
}

/// The most extreme of `n` values, or NaN if a value is NaN.
template <typename T, bool kLargest>
T extreme_of(const T* values, int64_t n) {
  // With narrow vectors, two arrays of more lanes do not fit into the registers.
  constexpr int64_t kLanes = simd::kMayHaveWideVectors ? kReductionLanes / 2 : kReductionLanes;
  T best[kLanes];
  // All bits are set if a value was NaN. The mask needs one operation less for each value than a selection of NaN.
  using Mask = std::conditional_t<sizeof(T) == sizeof(int64_t), int64_t, int32_t>;
  Mask is_nan[kLanes] = {};
  std::fill_n(best, kLanes, least_extreme<T, kLargest>());
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    KERNELS_LANES
    for (int64_t k = 0; k < kLanes; ++k) {
      best[k] = is_better<kLargest>(values[i + k], best[k]) ? values[i + k] : best[k];
      is_nan[k] |= values[i + k] != values[i + k] ? -1 : 0;
    }
  }
  for (int64_t k = 0; i < n; ++i, ++k) {
    best[k] = is_better<kLargest>(values[i], best[k]) ? values[i] : best[k];
    is_nan[k] |= values[i] != values[i] ? -1 : 0;
  }
  merge_lanes<kLanes / 2>(best, [](T& into, T other) { into = is_better<kLargest>(other, into) ? other : into; });
  merge_lanes<kLanes / 2>(is_nan, [](Mask& into, Mask other) { into |= other; });
  return is_nan[0] != 0 ? std::numeric_limits<T>::quiet_NaN() : best[0];
}

/// The largest or the smallest value, or NaN if a value is NaN.
template <typename T, bool kLargest>
struct Extreme {
  using Argument = T;
  using Accumulator = T;
  using Result = T;

  T start() const { return least_extreme<T, kLargest>(); }
  void add(T& best, T value) const { best = kLargest ? larger(best, value) : smaller(best, value); }
  void add_row(T& best, const T* values, int64_t n, int64_t, int64_t) const {
    add(best, extreme_of<T, kLargest>(values, n));
  }
  void merge(T& best, T other) const { add(best, other); }
  T finish(T best) const { return best; }
};

/// The index of the first of the largest or smallest values, or of the first NaN if a value is NaN.
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
    const bool is_first_nan = value != value && best.value == best.value;
    if (is_better<kLargest>(value, best.value) || is_first_nan || best.index < 0 ||
        (is_same(value, best.value) && index < best.index)) {
      best = {value, index};
    }
  }
  void add_row(Accumulator& best, const T* values, int64_t n, int64_t index, int64_t step) const {
    // Searches for the index only if the values are more extreme than previous values, which is rare.
    const T extreme = extreme_of<T, kLargest>(values, n);
    Accumulator candidate = best;
    add(candidate, extreme, index);
    if (candidate.index == index) {
      const int64_t i = std::find_if(values, values + n, [=](T value) { return is_same(value, extreme); }) - values;
      add(best, extreme, index + i * step);
    }
  }
  void merge(Accumulator& best, const Accumulator& other) const {
    if (other.index >= 0) {
      add(best, other.value, other.index);
    }
  }
  int64_t finish(const Accumulator& best) const { return best.index; }

 private:
  static bool is_same(T a, T b) { return a == b || (a != a && b != b); }
};

}  // namespace internal

/// Resizes `out` for a reduction. Returns false if a reduced dimension is empty, because an empty set has no extreme.
inline bool resize_to_extreme(Tensor& out, const Tensor& in, const DimSet& dims, bool keepdim) {
  ET_CHECK_OR_RETURN_FALSE(reduced_numel(in, dims) > 0,
                           "expected non-empty dimensions, got a reduced dimension of size 0");
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
