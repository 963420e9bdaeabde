#pragma once

#include <cstdint>

#include "kernels/common/dims.h"
#include "kernels/common/strided_view.h"
#include "kernels/common/vectorize.h"

namespace rules_executorch::kernels {

/// Resizes `out` to `in`'s shape without the dimensions `dims`, or with size 1 in their place where `keepdim`.
bool resize_to_reduction(Tensor& out, const Tensor& in, const DimSet& dims, bool keepdim);

/// Elements of `in` that each result is made of.
int64_t reduced_numel(const Tensor& in, const DimSet& dims);

/// A reduction with its types erased; accumulators lie in arrays of `accumulator_size` bytes each.
struct ReductionFunction {
  ScalarType argument_type;
  ScalarType result_type;
  int64_t accumulator_size;
  const void* function;
  /// Starts `n` accumulators.
  void (*start)(const void* function, void* accumulators, int64_t n);
  /// Adds `n` values to `lanes` accumulators, 1 or kReductionLanes, one after the other. Among all that are reduced,
  /// the first value is at `index`, and they are `step` apart.
  void (*add_row)(const void* function, void* accumulators, int64_t lanes, const void* values, int64_t n, int64_t index,
                  int64_t step);
  /// Adds the k-th of `n` values to the k-th of `n` accumulators, all at `index`.
  void (*add_each)(const void* function, void* accumulators, const void* values, int64_t n, int64_t index);
  /// Merges the `n` accumulators `from`, whose contents are lost, into the accumulator `into`.
  void (*merge)(const void* function, void* into, void* from, int64_t n);
  /// Writes the results of `n` accumulators.
  void (*finish)(const void* function, const void* accumulators, void* results, int64_t n);
};

/// Partial results that a row's values go to in turn: compilers vectorize them, and floating-point sums are the more
/// exact.
inline constexpr int64_t kReductionLanes = 16;

/// Bytes of an accumulator at most.
inline constexpr int64_t kMaxAccumulatorSize = 64;

/// Reduces the dimensions `dims` of `in` into `out`, which has that result's shape (with or without the dimensions). It
/// uses four blocks of stack and about 2 KiB more: 10 KiB in all, and 6 KiB with the smallest block_size.
void apply_reduction(const ReductionFunction& function, const ConstStridedView& in, const DimSet& dims,
                     const StridedView& out);

namespace internal {

template <typename R>
struct ReductionAdapter {
  using Argument = typename R::Argument;
  using Accumulator = typename R::Accumulator;
  using Result = typename R::Result;

  static void start(const void* function, void* accumulators, int64_t n) {
    const R& reduction = *static_cast<const R*>(function);
    for (int64_t i = 0; i < n; ++i) {
      static_cast<Accumulator*>(accumulators)[i] = reduction.start();
    }
  }

  static void add_row(const void* function, void* accumulators, int64_t lanes, const void* values, int64_t n,
                      int64_t index, int64_t step) {
    const R& reduction = *static_cast<const R*>(function);
    const Argument* x = static_cast<const Argument*>(values);
    Accumulator* totals = static_cast<Accumulator*>(accumulators);
    int64_t i = 0;
    for (; lanes == kReductionLanes && i + kReductionLanes <= n; i += kReductionLanes) {
      for (int64_t k = 0; k < kReductionLanes; ++k) {
        reduction.add(totals[k], x[i + k], index + (i + k) * step);
      }
    }
    for (int64_t k = 0; i < n; ++i, k = k + 1 == lanes ? 0 : k + 1) {
      reduction.add(totals[k], x[i], index + i * step);
    }
  }

  static void add_each(const void* function, void* accumulators, const void* values, int64_t n, int64_t index) {
    const R& reduction = *static_cast<const R*>(function);
    const Argument* x = static_cast<const Argument*>(values);
    Accumulator* totals = static_cast<Accumulator*>(accumulators);
    vectorized_for(n, [&](int64_t i) { reduction.add(totals[i], x[i], index); });
  }

  static void merge(const void* function, void* into, void* from, int64_t n) {
    const R& reduction = *static_cast<const R*>(function);
    Accumulator* others = static_cast<Accumulator*>(from);
    for (; n > 1; n = (n + 1) / 2) {
      const int64_t half = (n + 1) / 2;
      for (int64_t k = half; k < n; ++k) {
        reduction.merge(others[k - half], others[k]);
      }
    }
    reduction.merge(*static_cast<Accumulator*>(into), others[0]);
  }

  static void finish(const void* function, const void* accumulators, void* results, int64_t n) {
    const R& reduction = *static_cast<const R*>(function);
    for (int64_t i = 0; i < n; ++i) {
      static_cast<Result*>(results)[i] = reduction.finish(static_cast<const Accumulator*>(accumulators)[i]);
    }
  }
};

}  // namespace internal

/// Reduces the dimensions `dims` of `in` into `out`, which has its final shape. `R` says how:
///
///     struct Sum {
///       using Argument = float;     // values are converted to this dtype
///       using Accumulator = float;  // trivially copyable, of at most 64 bytes
///       using Result = float;       // converted to out's dtype
///       float start() const { return 0; }
///       void add(float& total, float value, int64_t index) const { total += value; }
///       void merge(float& total, float later) const { total += later; }
///       float finish(float total) const { return total; }
///     };
///
/// `index` is the value's position among those that are reduced, in row-major order; `merge` combines two accumulators
/// in no particular order. Nothing to reduce gives `finish(start())`. Large inputs are reduced on several threads (see
/// `parallel_for`), which share `reduction`.
template <typename R>
void reduce(const R& reduction, const Tensor& in, const DimSet& dims, Tensor& out) {
  using Adapter = internal::ReductionAdapter<R>;
  static_assert(sizeof(typename R::Accumulator) <= kMaxAccumulatorSize,
                "accumulators are kept in a buffer on the stack");
  apply_reduction({CppTypeToScalarType<typename R::Argument>::value, CppTypeToScalarType<typename R::Result>::value,
                   sizeof(typename R::Accumulator), &reduction, &Adapter::start, &Adapter::add_row, &Adapter::add_each,
                   &Adapter::merge, &Adapter::finish},
                  ConstStridedView(in), dims, StridedView(out));
}

}  // namespace rules_executorch::kernels
