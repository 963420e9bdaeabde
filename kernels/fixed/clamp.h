#pragma once

namespace rules_executorch::kernels::fixed {

/// The bounds of a layer's results; infinities if there are none.
struct Clamp {
  float minimum;
  float maximum;

  /// Returns `x` within the bounds. NaN stays NaN, because both comparisons are false.
  float operator()(float x) const {
    const float raised = x < minimum ? minimum : x;
    return raised > maximum ? maximum : raised;
  }
};

}  // namespace rules_executorch::kernels::fixed
