#pragma once

#include <cstdint>

#include "kernels/fourier/signal.h"

namespace rules_executorch::kernels {

/// Transforms of lengths with small prime factors.
template <typename T>
struct MixedRadix {
  /// The largest factor.
  static constexpr int64_t kLargestRadix = 31;

  /// Whether `length` has small prime factors only.
  static bool takes(int64_t length);

  int64_t length;
  Signal<const T> roots;  // the powers of the root of unity of order `length * step`
  int64_t step;

  /// The forward transforms of `lanes` signals. Element i of signal l is at i * lanes + l. Both memories are written.
  /// Returns the one with the result.
  Signal<T> run(Signal<T> data, Signal<T> other, int64_t lanes) const;
};

}  // namespace rules_executorch::kernels
