#pragma once

#include <cstdint>

#include "kernels/fixed/clamp.h"

namespace rules_executorch::kernels::fixed {

struct LinearSizes {
  int32_t rows;
  int32_t inputs;
  int32_t outputs;
};

/// A linear layer: out[r, n] is the sum of in[r, k] * weight[n, k] over k, plus bias[n]. `bias` may be null.
void linear(const float* in, const float* weight, const float* bias, float* out, const LinearSizes& sizes, Clamp clamp);

/// A linear layer with its weights in float panels.
void packed_linear(const float* in, const float* weight, const float* bias, float* out, const LinearSizes& sizes,
                   Clamp clamp);

}  // namespace rules_executorch::kernels::fixed
