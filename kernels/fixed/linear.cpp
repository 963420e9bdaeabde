#include "kernels/fixed/linear.h"

#include <algorithm>

#include "kernels/fixed/panel.h"

namespace rules_executorch::kernels::fixed {

namespace {

/// The number of outputs that are computed together, so that each input is read once for all of them.
constexpr int32_t kTogether = 4;

template <int32_t kOutputs>
void dot_products(const float* in, const float* weight, int32_t inputs, float (&sums)[kTogether]) {
  for (int32_t k = 0; k < inputs; ++k) {
#pragma GCC unroll 4
    for (int32_t i = 0; i < kOutputs; ++i) {
      sums[i] += in[k] * weight[i * inputs + k];
    }
  }
}

}  // namespace

void linear(const float* in, const float* weight, const float* bias, float* out, const LinearSizes& sizes,
            Clamp clamp) {
  for (int32_t row = 0; row < sizes.rows; ++row, in += sizes.inputs) {
    for (int32_t n = 0; n < sizes.outputs;) {
      float sums[kTogether] = {};
      const bool is_block = sizes.outputs - n >= kTogether;
      const float* const rows = weight + n * sizes.inputs;
      if (is_block) {
        dot_products<kTogether>(in, rows, sizes.inputs, sums);
      } else {
        dot_products<1>(in, rows, sizes.inputs, sums);
      }
      const int32_t end = n + (is_block ? kTogether : 1);
      for (const float* sum = sums; n < end; ++n, ++sum) {
        *out++ = clamp(bias != nullptr ? *sum + bias[n] : *sum);
      }
    }
  }
}

void packed_linear(const float* in, const float* weight, const float* bias, float* out, const LinearSizes& sizes,
                   Clamp clamp) {
  for (int32_t row = 0; row < sizes.rows; ++row, in += sizes.inputs) {
    const float* panel = weight;
    for (int32_t n = 0; n < sizes.outputs; n += kFloatPanelColumns, panel += sizes.inputs * kFloatPanelColumns) {
      const int32_t columns = std::min<int32_t>(sizes.outputs - n, kFloatPanelColumns);
      PanelSums sums;
      sums.start(bias != nullptr ? bias + n : nullptr, columns);
      sums.add(in, 1, panel, sizes.inputs);
      sums.store(out, nullptr, columns, clamp);
      out += columns;
    }
  }
}

void product(const float* a, const float* b, const float* addend, int32_t addend_stride, float* out,
             const ProductSizes& sizes) {
  for (int32_t i = 0; i < sizes.batch; ++i, b += sizes.inner * sizes.columns) {
    for (int32_t row = 0; row < sizes.rows; ++row, a += sizes.inner, out += sizes.columns) {
      for (int32_t n = 0; n < sizes.columns; ++n) {
        float sum = addend != nullptr ? addend[row * addend_stride + n] : 0;
        for (int32_t k = 0; k < sizes.inner; ++k) {
          sum += a[k] * b[k * sizes.columns + n];
        }
        out[n] = sum;
      }
    }
  }
}

}  // namespace rules_executorch::kernels::fixed
