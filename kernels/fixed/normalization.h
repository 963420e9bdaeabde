#pragma once

#include <cstdint>

namespace rules_executorch::kernels::fixed {

/// The lines of a contiguous tensor along one dimension: `outer` times `inner` lines of `count` elements, which are
/// `inner` elements apart.
struct Lines {
  int32_t outer;
  int32_t count;
  int32_t inner;
};

/// exp(x) divided by the sum of exp(x) of the line.
void softmax(const float* in, float* out, const Lines& lines);

/// The logarithm of softmax().
void log_softmax(const float* in, float* out, const Lines& lines);

/// (x - mean) / sqrt(variance + epsilon) of each row, times the weight, plus the bias. `weight` and `bias` may be null.
void layer_norm(const float* in, const float* weight, const float* bias, float* out, int32_t rows, int32_t count,
                float epsilon);

}  // namespace rules_executorch::kernels::fixed
