#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/convolution/epilogue.h"
#include "kernels/convolution/packed/float_rows.h"

namespace rules_executorch::kernels::packed {

/// What a convolution reads and writes. Sums are floats, and are rounded once.
template <typename E>
struct Operands {
  static constexpr bool kIsFloat = std::is_same_v<E, float>;

  const E* in;
  const E* weight;
  const E* bias;      // null for none
  const E* residual;  // null for none
  E* out;
  Epilogue epilogue;

  /// Sums of a row become results.
  void store([[maybe_unused]] float* sums, E* to, int64_t n) const {
    if constexpr (kIsFloat) {
      epilogue.activation(to, n);
    } else {
      epilogue.activation(sums, n);
      store_row(sums, to, n);
    }
  }
};

/// Memory of a part of the work.
struct Scratch {
  const float** pixels;  // the indirection
  float* zeros;
  float* copied;
  float* weights;
  float* sums;
};

}  // namespace rules_executorch::kernels::packed
