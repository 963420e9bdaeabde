#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/math/vectorize.h"
#include "kernels/tensors/dims.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Resizes `out` to the shape of `in` without the dimensions `dims`. With `keepdim`, the dimensions `dims` have size 1.
bool resize_to_reduction(Tensor& out, const Tensor& in, const DimSet& dims, bool keepdim);

/// The number of elements of `in` for each result.
int64_t reduced_numel(const Tensor& in, const DimSet& dims);

/// A type-erased reduction. Accumulators are in arrays, `accumulator_size` bytes apart.
struct ReductionFunction {
  ScalarType argument_type;
  ScalarType result_type;
  int64_t accumulator_size;
  bool takes_index;
  int64_t lanes;  // kReductionLanes, or 1 for a function with add_row
  const void* function;
  /// Initializes `n` accumulators.
  void (*start)(const void* function, void* accumulators, int64_t n);
  /// Adds `n` values to `lanes` accumulators in turn. `lanes` is 1 or kReductionLanes. `index` is the position of the
  /// first value among all reduced values. The positions are `step` apart.
  void (*add_row)(const void* function, void* accumulators, int64_t lanes, const void* values, int64_t n, int64_t index,
                  int64_t step);
  /// Adds `n` values to one accumulator. From kMinLaneRun values on, the values are added in lanes first.
  void (*add_run)(const void* function, void* accumulator, const void* values, int64_t n, int64_t index, int64_t step);
  /// Adds value k to accumulator k for `n` values. All values have position `index`.
  void (*add_each)(const void* function, void* accumulators, const void* values, int64_t n, int64_t index);
  /// Merges the `n` accumulators `from` into the accumulator `into`. Overwrites the accumulators `from`.
  void (*merge)(const void* function, void* into, void* from, int64_t n);
  /// Computes the results of `n` accumulators.
  void (*finish)(const void* function, const void* accumulators, void* results, int64_t n);
};

/// The number of accumulators for the values of a row. Compilers vectorize loops over them, and floating-point sums are
/// more exact.
inline constexpr int64_t kReductionLanes = 32;

/// The number of values of a row from which on lanes are faster.
inline constexpr int64_t kMinLaneRun = 2 * kReductionLanes;

/// The number of values of a run from which on add_long_run is called. For AVX2, GCC does not keep the lanes in
/// registers in the function that initializes them.
#if defined(__AVX2__) && !defined(__AVX512F__)
inline constexpr int64_t kLongRun = 512;
#else
inline constexpr int64_t kLongRun = 0;  // never called
#endif

/// The largest size of an accumulator in bytes.
inline constexpr int64_t kMaxAccumulatorSize = 64;

/// Reduces the dimensions `dims` of `in` to `out`. `out` must have the shape of the result, with or without the reduced
/// dimensions. Needs four blocks of stack and about 2 KiB more: 10 KiB, or 6 KiB with the smallest block_size.
void apply_reduction(const ReductionFunction& function, const ConstStridedView& in, const DimSet& dims,
                     const StridedView& out);

namespace internal {

template <typename R, typename = void>
struct TakesIndex : std::false_type {};
template <typename R>
struct TakesIndex<R, std::void_t<decltype(std::declval<const R&>().add(std::declval<typename R::Accumulator&>(),
                                                                       typename R::Argument(), int64_t(0)))>>
    : std::true_type {};

template <typename R, typename = void>
struct HasAddRow : std::false_type {};
template <typename R>
struct HasAddRow<R, std::void_t<decltype(&R::add_row)>> : std::true_type {};

template <typename R>
struct ReductionAdapter {
  using Argument = typename R::Argument;
  using Accumulator = typename R::Accumulator;
  using Result = typename R::Result;

  static constexpr bool kTakesIndex = TakesIndex<R>::value;
  static constexpr int64_t kLanes = HasAddRow<R>::value ? 1 : kReductionLanes;

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
    if constexpr (HasAddRow<R>::value) {
      reduction.add_row(totals[0], x, n, index, step);
    } else {
      int64_t i = 0;
      if (lanes == kReductionLanes) {
        // A local copy, because the compiler keeps a local copy in registers.
        Accumulator copy[kReductionLanes];
        std::copy_n(totals, kReductionLanes, copy);
        for (; i + kReductionLanes <= n; i += kReductionLanes) {
          KERNELS_LANES
          for (int64_t k = 0; k < kReductionLanes; ++k) {
            add(reduction, copy[k], x[i + k], index + (i + k) * step);
          }
        }
        std::copy_n(copy, kReductionLanes, totals);
      }
      for (int64_t k = 0; i < n; ++i, k = k + 1 == lanes ? 0 : k + 1) {
        add(reduction, totals[k], x[i], index + i * step);
      }
    }
  }

  static void add_run(const void* function, void* accumulator, const void* values, int64_t n, int64_t index,
                      int64_t step) {
    if (kLanes == 1 || n < kMinLaneRun) {
      add_row(function, accumulator, 1, values, n, index, step);
    } else {
      Accumulator lanes[kReductionLanes];
      start(function, lanes, kReductionLanes);
      if (kLongRun == 0 || n < kLongRun) {
        add_row(function, lanes, kReductionLanes, values, n, index, step);
      } else {
        add_long_run(function, lanes, values, n, index, step);
      }
      merge(function, accumulator, lanes, kReductionLanes);
    }
  }

  static void add_each(const void* function, void* accumulators, const void* values, int64_t n, int64_t index) {
    const R& reduction = *static_cast<const R*>(function);
    const Argument* x = static_cast<const Argument*>(values);
    Accumulator* totals = static_cast<Accumulator*>(accumulators);
    vectorized_for(n, [&](int64_t i) { add(reduction, totals[i], x[i], index); });
  }

  static void merge(const void* function, void* into, void* from, int64_t n) {
    const R& reduction = *static_cast<const R*>(function);
    Accumulator* others = static_cast<Accumulator*>(from);
    if (n == kReductionLanes && kLanes == kReductionLanes) {
      merge_lanes<kReductionLanes / 2>(
          others, [&](Accumulator& into, const Accumulator& other) { reduction.merge(into, other); });
      n = 1;
    }
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

 private:
  [[gnu::noinline]] static void add_long_run(const void* function, Accumulator* lanes, const void* values, int64_t n,
                                             int64_t index, int64_t step) {
    add_row(function, lanes, kReductionLanes, values, n, index, step);
  }

  static void add(const R& reduction, Accumulator& total, Argument value, int64_t index) {
    if constexpr (kTakesIndex) {
      reduction.add(total, value, index);
    } else {
      reduction.add(total, value);
    }
  }
};

}  // namespace internal

/// Reduces the dimensions `dims` of `in` to `out`. `out` must have its final shape. `R` defines the reduction:
///
///     struct Sum {
///       using Argument = float;     // values are converted to this dtype
///       using Accumulator = float;  // trivially copyable, of at most 64 bytes
///       using Result = float;       // converted to the dtype of out
///       float start() const { return 0; }
///       void add(float& total, float value) const { total += value; }
///       void merge(float& total, float later) const { total += later; }
///       float finish(float total) const { return total; }
///     };
///
/// `add` may have a third parameter, `int64_t index`: the row-major position of the value among the reduced values. A
/// reduction may have a function that adds the values of a row at once, instead of one by one in lanes:
///
///       void add_row(Accumulator& total, const Argument* values, int64_t n, int64_t index, int64_t step) const;
///
/// The positions of these values are `index`, `index + step`, and so on. `merge` must not depend on the order of the
/// two accumulators. The result of an empty reduction is `finish(start())`. Large inputs are reduced on several threads
/// (see `parallel_for`), which share `reduction`.
template <typename R>
void reduce(const R& reduction, const Tensor& in, const DimSet& dims, Tensor& out) {
  using Adapter = internal::ReductionAdapter<R>;
  static_assert(sizeof(typename R::Accumulator) <= kMaxAccumulatorSize,
                "accumulators must fit into a buffer on the stack");
  apply_reduction({CppTypeToScalarType<typename R::Argument>::value, CppTypeToScalarType<typename R::Result>::value,
                   sizeof(typename R::Accumulator), Adapter::kTakesIndex, Adapter::kLanes, &reduction, &Adapter::start,
                   &Adapter::add_row, &Adapter::add_run, &Adapter::add_each, &Adapter::merge, &Adapter::finish},
                  ConstStridedView(in), dims, StridedView(out));
}

}  // namespace rules_executorch::kernels
