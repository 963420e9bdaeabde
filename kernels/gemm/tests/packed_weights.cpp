// Reads and writes weights in the layouts of kernels, behind a C interface for layouts_test.py. Each function copies
// all elements of a weight: to their positions in `packed` if `packs`, otherwise from these positions. `packed` has
// zeros in all other positions.

#include <cstdint>
#include <cstring>

#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/layouts.h"

namespace {

using namespace rules_executorch::kernels;

/// A weight of `outputs` rows of `inputs` elements of `size` bytes.
struct Weight {
  bool packs;
  char* packed;
  char* data;
  int64_t size;
  int64_t outputs;
  int64_t inputs;

  /// `at` returns the position of an element in `packed`, in elements.
  template <typename At>
  void copy(const At& at) const {
    for (int64_t n = 0; n < outputs; ++n) {
      for (int64_t k = 0; k < inputs; ++k) {
        char* const place = packed + at(n, k) * size;
        char* const element = data + (n * inputs + k) * size;
        packs ? std::memcpy(place, element, size) : std::memcpy(element, place, size);
      }
    }
  }

  /// The same for 4-bit elements. `half` returns whether an element is in the higher half of its byte. The stored bits
  /// are the value plus `zero`, or a signed integer if `zero` is 0.
  template <typename At, typename Half>
  void copy_nibbles(int zero, const At& at, const Half& half) const {
    for (int64_t n = 0; n < outputs; ++n) {
      for (int64_t k = 0; k < inputs; ++k) {
        auto* const place = reinterpret_cast<uint8_t*>(packed) + at(n, k);
        auto* const element = reinterpret_cast<int8_t*>(data) + n * inputs + k;
        const int shift = half(k) ? 4 : 0;
        if (packs) {
          *place = static_cast<uint8_t>(*place | ((*element + zero) & 15) << shift);
        } else {
          const int bits = *place >> shift & 15;
          *element = static_cast<int8_t>(zero != 0 || bits < 8 ? bits - zero : bits - 16);
        }
      }
    }
  }
};

/// The position of element [n, k] in float panels of `inputs` inputs. With `has_pairs`, a row of a panel has pairs of
/// inputs.
int64_t in_float_panel(int64_t inputs, int64_t n, int64_t k, bool has_pairs) {
  const int64_t panel = n / kFloatPanelColumns * inputs * kFloatPanelColumns;
  const int64_t column = n % kFloatPanelColumns;
  return panel + (has_pairs ? k / 2 * 2 * kFloatPanelColumns + 2 * column + k % 2 : k * kFloatPanelColumns + column);
}

/// The same for byte panels of `blocks` blocks each.
int64_t in_byte_panel(int64_t blocks, int64_t n, int64_t k) {
  constexpr int64_t kBlock = kBytePanelColumns * kBytePanelDepth;
  const int64_t panel = n / kBytePanelColumns * blocks * kBlock;
  return panel + (k / kBytePanelDepth * kBytePanelColumns + n % kBytePanelColumns) * kBytePanelDepth +
         k % kBytePanelDepth;
}

}  // namespace

extern "C" {

/// packed_linear. The element size is 2 or 4.
void copy_linear(bool packs, char* packed, char* weight, int64_t size, int64_t outputs, int64_t inputs,
                 bool has_pairs) {
  Weight{packs, packed, weight, size, outputs, inputs}.copy(
      [=](int64_t n, int64_t k) { return in_float_panel(inputs, n, k, has_pairs); });
}

/// packed_gru, packed_lstm and packed_rnn. The weight has the units of the first gate, then those of the next one.
void copy_recurrent(bool packs, char* packed, char* weight, int64_t size, int64_t outputs, int64_t inputs,
                    int64_t gates) {
  const int64_t units = outputs / gates;
  Weight{packs, packed, weight, size, outputs, inputs}.copy([=](int64_t n, int64_t k) {
    const int64_t gate = n / units;
    const int64_t unit = n % units;
    const int64_t panel = unit / kFloatPanelColumns * gates + gate;
    return in_float_panel(inputs, panel * kFloatPanelColumns + unit % kFloatPanelColumns, k, false);
  });
}

/// packed_convolution. The weight has shape (groups * outputs, channels, kernel positions).
void copy_convolution(bool packs, char* packed, char* weight, int64_t size, int64_t groups, int64_t outputs,
                      int64_t channels, int64_t positions, bool has_pairs) {
  const int64_t k = channels * positions;
  const int64_t filled = filled_columns(outputs);
  Weight{packs, packed, weight, size, groups * outputs, k}.copy([=](int64_t row, int64_t i) {
    const int64_t start = strip_start(filled, row / outputs, 0, k);
    return start + in_float_panel(k, row % outputs, i % positions * channels + i / positions, has_pairs);
  });
}

/// packed_convolution with one group for each channel.
void copy_depthwise(bool packs, char* packed, char* weight, int64_t size, int64_t channels, int64_t positions) {
  Weight{packs, packed, weight, size, channels, positions}.copy([=](int64_t n, int64_t k) { return k * channels + n; });
}

/// quantized_linear, and dynamic_linear with 8 bits. `blocks` is the number of blocks of a panel.
void copy_bytes(bool packs, char* packed, char* weight, int64_t blocks, int64_t outputs, int64_t inputs) {
  Weight{packs, packed, weight, 1, outputs, inputs}.copy(
      [=](int64_t n, int64_t k) { return in_byte_panel(blocks, n, k); });
}

/// quantized_convolution. The weight has shape (groups * outputs, channels, kernel positions).
void copy_quantized_convolution(bool packs, char* packed, char* weight, int64_t groups, int64_t outputs,
                                int64_t channels, int64_t positions) {
  const int64_t k = channels * positions;
  const int64_t blocks = (k + kBytePanelDepth - 1) / kBytePanelDepth;
  const int64_t columns = (outputs + kBytePanelColumns - 1) / kBytePanelColumns * kBytePanelColumns;
  Weight{packs, packed, weight, 1, groups * outputs, k}.copy([=](int64_t row, int64_t i) {
    return in_byte_panel(blocks, row / outputs * columns + row % outputs, i % positions * channels + i / positions);
  });
}

/// quantized_convolution with one group for each channel.
void copy_quantized_depthwise(bool packs, char* packed, char* weight, int64_t channels, int64_t height, int64_t width) {
  const int64_t blocks = (height + kBytePanelDepth - 1) / kBytePanelDepth * width;
  Weight{packs, packed, weight, 1, channels, height * width}.copy([=](int64_t n, int64_t i) {
    const int64_t y = i / width;
    return in_byte_panel(blocks, n, (y / kBytePanelDepth * width + i % width) * kBytePanelDepth + y % kBytePanelDepth);
  });
}

/// dynamic_linear with 4 bits. `blocks` is the number of blocks of a panel, in bytes.
void copy_dynamic_nibbles(bool packs, char* packed, char* weight, int64_t blocks, int64_t outputs, int64_t inputs) {
  Weight{packs, packed, weight, 1, outputs, inputs}.copy_nibbles(
      0,
      [=](int64_t n, int64_t k) {
        return in_byte_panel(blocks, n, k / kBytePanelRowMultiple * kBytePanelDepth + k % kBytePanelDepth);
      },
      [](int64_t k) { return k % kBytePanelRowMultiple >= kBytePanelDepth; });
}

/// The scales of dynamic_linear. Each row has `groups` groups of elements.
void copy_scales(bool packs, char* packed, char* scales, int64_t outputs, int64_t groups) {
  Weight{packs, packed, scales, sizeof(float), outputs, groups}.copy([=](int64_t n, int64_t g) {
    return (n / kBytePanelColumns * groups + g) * kBytePanelColumns + n % kBytePanelColumns;
  });
}

/// weight_only_linear with 4 bits.
void copy_row_nibbles(bool packs, char* packed, char* weight, int64_t outputs, int64_t inputs) {
  constexpr int64_t kBytes = kQuantizedRowBlockBytes;
  Weight{packs, packed, weight, 1, outputs, inputs}.copy_nibbles(
      8, [=](int64_t n, int64_t k) { return n * inputs / 2 + k / (2 * kBytes) * kBytes + k % kBytes; },
      [](int64_t k) { return k % (2 * kBytes) >= kBytes; });
}

}  // extern "C"
