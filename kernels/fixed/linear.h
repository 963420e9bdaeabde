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

struct ProductSizes {
  int32_t batch;
  int32_t rows;
  int32_t inner;
  int32_t columns;
};

/// Products of matrices: out[i, r, n] is the sum of a[i, r, k] * b[i, k, n] over k, plus addend[r * addend_stride + n]
/// if `addend` is not null.
void product(const float* a, const float* b, const float* addend, int32_t addend_stride, float* out,
             const ProductSizes& sizes);

}  // namespace rules_executorch::kernels::fixed
