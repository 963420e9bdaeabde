#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/convolution/epilogue.h"
#include "kernels/gemm/reduced_rows.h"

namespace rules_executorch::kernels::packed {

/// The operands of a convolution. Sums are floats and are rounded once.
template <typename E>
struct Operands {
  static constexpr bool kIsFloat = std::is_same_v<E, float>;

  const E* in;
  const E* weight;
  const E* bias;      // null for none
  const E* residual;  // null for none
  E* out;
  Epilogue epilogue;

  /// Applies the activation to the sums of a row and stores them.
  void store([[maybe_unused]] float* sums, E* to, int64_t n) const {
    if constexpr (kIsFloat) {
      epilogue.activation(to, n);
    } else {
      epilogue.activation(sums, n);
      store_row(sums, to, n);
    }
  }
};

}  // namespace rules_executorch::kernels::packed
