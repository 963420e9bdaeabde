#include "kernels/fixed/quantized.h"

#include <algorithm>
#include <cstring>

#include "kernels/gemm/layouts.h"

namespace rules_executorch::kernels::fixed {

namespace {

/// The number of columns of a panel that are computed together, so that each input is read once for all of them. Their
/// sums fit into the registers of small processors.
constexpr int32_t kTogether = 4;
static_assert(kBytePanelColumns % kTogether == 0);

constexpr int32_t kQuadBytes = kBytePanelColumns * kBytePanelDepth;

/// After the addition of this float, the low bits of a small float are the nearest integer.
constexpr float kRoundingShift = 12582912.0f;

/// The sums of kTogether columns of a panel.
struct ColumnSums {
  int32_t sums[kTogether] = {};

  /// Adds the products of an input and its weights: `weight` is that of the first column.
  void add(int32_t x, const int8_t* weight) {
#pragma GCC unroll 4
    for (int32_t i = 0; i < kTogether; ++i) {
      sums[i] += x * weight[i * kBytePanelDepth];
    }
  }

  /// Adds the products of `count` inputs from position `k` of the sum on: bytes, or `padding` if `bytes` is null.
  /// `column` is the weight of the first column at position 0.
  void add_all(int32_t k, int32_t count, const int8_t* column, const uint8_t* bytes, uint8_t padding, uint8_t bits) {
    const int8_t* weight = column + k / kBytePanelDepth * kQuadBytes + k % kBytePanelDepth;
    for (int32_t i = 0; i < count; ++i) {
      add((bytes != nullptr ? bytes[i] : padding) ^ bits, weight);
      weight += ++k % kBytePanelDepth == 0 ? kQuadBytes - kBytePanelDepth + 1 : 1;
    }
  }

  void store(const QuantizedOutput& out, int32_t index, int32_t n, int32_t columns) const {
    for (int32_t i = 0; i < columns && i < kTogether; ++i) {
      out.store(index + i, sums[i], n + i);
    }
  }
};

int32_t groups_of(int32_t inputs) { return (inputs + kBytePanelDepth - 1) / kBytePanelDepth; }

/// The weight of the first position of a column, of panels of `groups` groups.
const int8_t* column_of(const int8_t* weight, int32_t column, int32_t groups) {
  return weight + column / kBytePanelColumns * groups * kQuadBytes + column % kBytePanelColumns * kBytePanelDepth;
}

}  // namespace

void QuantizedOutput::store(int32_t index, int32_t sum, int32_t n) const {
  float x = static_cast<float>(sum) * scale[n] + offset[n];
  if (is_float) {
    static_cast<float*>(elements)[index] = x;
    return;
  }
  x = x > minimum ? x : minimum;
  x = (x < maximum ? x : maximum) + kRoundingShift;
  int32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  const uint8_t byte = static_cast<uint8_t>(bits);
  static_cast<uint8_t*>(elements)[index] = table != nullptr ? table[byte] : byte;
}

void quantized_linear(const QuantizedInput& in, const int8_t* weight, const QuantizedOutput& out,
                      const LinearSizes& sizes) {
  const int32_t groups = groups_of(sizes.inputs);
  for (int32_t row = 0; row < sizes.rows; ++row) {
    const uint8_t* const bytes = in.bytes + row * sizes.inputs;
    for (int32_t n = 0; n < sizes.outputs; n += kTogether) {
      ColumnSums sums;
      sums.add_all(0, sizes.inputs, column_of(weight, n, groups), bytes, 0, in.bits);
      sums.store(out, row * sizes.outputs + n, n, sizes.outputs - n);
    }
  }
}

void quantized_convolution(const QuantizedInput& in, const int8_t* weight, const QuantizedOutput& out,
                           const Window& window, const Channels& channels, uint8_t zero_point) {
  const int32_t groups = groups_of(window.taps() * channels.inputs);
  const int32_t panels = (channels.outputs + kBytePanelColumns - 1) / kBytePanelColumns;
  // Whether the inputs of all taps of a row follow each other.
  const bool has_runs = window.x.dilation == 1 && window.in.pixel_stride == channels.inputs;
  window.for_each_pixel([&](const Window::Place& place, int32_t pixel) {
    for (int32_t group = 0; group < channels.groups; ++group) {
      const int8_t* const group_weight = weight + group * panels * groups * kQuadBytes;
      const uint8_t* const bytes = in.bytes + group * channels.inputs;
      for (int32_t n = 0; n < channels.outputs; n += kTogether) {
        const int8_t* const column = column_of(group_weight, n, groups);
        ColumnSums sums;
        const auto add = [&](int32_t tap, int32_t offset, int32_t taps) {
          sums.add_all(tap * channels.inputs, taps * channels.inputs, column, offset < 0 ? nullptr : bytes + offset,
                       zero_point, in.bits);
        };
        if (has_runs) {
          place.for_each_run(add);
        } else {
          place.for_each_tap([&](int32_t tap, int32_t offset) { add(tap, offset, 1); });
        }
        const int32_t channel = group * channels.outputs + n;
        sums.store(out, pixel + channel, channel, channels.outputs - n);
      }
    }
  });
}

void quantized_depthwise_convolution(const QuantizedInput& in, const int8_t* weight, const QuantizedOutput& out,
                                     const Window& window, int32_t channels, uint8_t zero_point) {
  const int32_t groups = groups_of(window.y.size) * window.x.size;
  window.for_each_pixel([&](const Window::Place& place, int32_t pixel) {
    for (int32_t channel = 0; channel < channels; ++channel) {
      const int8_t* const column = column_of(weight, channel, groups);
      int32_t sum = 0;
      place.for_each_tap([&](int32_t tap, int32_t offset) {
        const int32_t y = tap / window.x.size;
        const int32_t group = y / kBytePanelDepth * window.x.size + tap % window.x.size;
        const int32_t x = (offset < 0 ? zero_point : in.bytes[offset + channel]) ^ in.bits;
        sum += x * column[group * kQuadBytes + y % kBytePanelDepth];
      });
      out.store(pixel + channel, sum, channel);
    }
  });
}

}  // namespace rules_executorch::kernels::fixed
