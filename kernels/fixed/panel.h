#pragma once

#include <cstdint>

#include "kernels/fixed/clamp.h"
#include "kernels/gemm/layouts.h"

namespace rules_executorch::kernels::fixed {

/// The sums of the columns of a float panel (kernels/gemm/layouts.yaml).
struct PanelSums {
  float sums[kFloatPanelColumns];

  /// Sets the sums of `columns` columns to the biases, or to 0 if `bias` is null.
  void start(const float* bias, int32_t columns) {
    for (int32_t i = 0; i < kFloatPanelColumns; ++i) {
      sums[i] = bias != nullptr && i < columns ? bias[i] : 0;
    }
  }

  /// Adds the products of `count` inputs, `stride` elements apart, and as many rows of the panel.
  void add(const float* in, int32_t stride, const float* panel, int32_t count);

  /// Writes the sums of `columns` columns, plus the addends if `addend` is not null.
  void store(float* out, const float* addend, int32_t columns, Clamp clamp) const {
    for (int32_t i = 0; i < columns; ++i) {
      out[i] = clamp(addend != nullptr ? sums[i] + addend[i] : sums[i]);
    }
  }
};

}  // namespace rules_executorch::kernels::fixed
