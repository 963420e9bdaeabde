#include "kernels/fixed/normalization.h"

#include <cmath>
#include <limits>

namespace rules_executorch::kernels::fixed {

namespace {

/// Calls `function(in, out)` with the first elements of each line.
template <typename Function>
void for_each_line(const float* in, float* out, const Lines& lines, const Function& function) {
  for (int32_t i = 0; i < lines.outer; ++i) {
    for (int32_t j = 0; j < lines.inner; ++j) {
      const int32_t first = i * lines.count * lines.inner + j;
      function(in + first, out + first);
    }
  }
}

float largest_of(const float* in, const Lines& lines) {
  float largest = -std::numeric_limits<float>::infinity();
  for (int32_t i = 0; i < lines.count * lines.inner; i += lines.inner) {
    largest = in[i] > largest ? in[i] : largest;
  }
  return largest;
}

}  // namespace

void softmax(const float* in, float* out, const Lines& lines) {
  for_each_line(in, out, lines, [&](const float* line, float* result) {
    const float largest = largest_of(line, lines);
    const int32_t end = lines.count * lines.inner;
    float sum = 0;
    for (int32_t i = 0; i < end; i += lines.inner) {
      result[i] = std::exp(line[i] - largest);
      sum += result[i];
    }
    for (int32_t i = 0; i < end; i += lines.inner) {
      result[i] /= sum;
    }
  });
}

void log_softmax(const float* in, float* out, const Lines& lines) {
  for_each_line(in, out, lines, [&](const float* line, float* result) {
    const float largest = largest_of(line, lines);
    const int32_t end = lines.count * lines.inner;
    float sum = 0;
    for (int32_t i = 0; i < end; i += lines.inner) {
      sum += std::exp(line[i] - largest);
    }
    const float logarithm = std::log(sum);
    for (int32_t i = 0; i < end; i += lines.inner) {
      result[i] = line[i] - largest - logarithm;
    }
  });
}

void layer_norm(const float* in, const float* weight, const float* bias, float* out, int32_t rows, int32_t count,
                float epsilon) {
  for (int32_t row = 0; row < rows; ++row, in += count, out += count) {
    float mean = 0;
    for (int32_t i = 0; i < count; ++i) {
      mean += in[i];
    }
    mean /= static_cast<float>(count);
    float variance = 0;
    for (int32_t i = 0; i < count; ++i) {
      variance += (in[i] - mean) * (in[i] - mean);
    }
    const float factor = 1 / std::sqrt(variance / static_cast<float>(count) + epsilon);
    for (int32_t i = 0; i < count; ++i) {
      const float x = (in[i] - mean) * factor;
      out[i] = (weight != nullptr ? x * weight[i] : x) + (bias != nullptr ? bias[i] : 0);
    }
  }
}

}  // namespace rules_executorch::kernels::fixed
