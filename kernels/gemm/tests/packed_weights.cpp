// Reads and writes weights in the layouts of kernels, behind a C interface for layouts_test.py. Each function copies
// all elements of a weight: to their positions in `packed` if `packs`, otherwise from these positions. `packed` has
// zeros in all other positions.

#include <cstdint>
#include <cstring>

#include "kernels/convolution/winograd_transforms.h"
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
  void copy_halves(int zero, const At& at, const Half& half) const {
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

/// The matrix G of Winograd's algorithm, which transforms rows of kernels, for the given points and infinity.
template <size_t kPoints>
void kernel_transform(const double (&points)[kPoints], double (*matrix)[kWinogradKernelSize]) {
  for (size_t i = 0; i < kPoints; ++i) {
    double value = 1;
    for (size_t j = 0; j < kPoints; ++j) {
      value /= i == j ? 1 : points[i] - points[j];
    }
    for (int64_t power = 0; power < kWinogradKernelSize; ++power, value *= points[i]) {
      matrix[i][power] = value;
    }
  }
  matrix[kPoints][kWinogradKernelSize - 1] = 1;
}

/// Transforms kernels to float panels. In the other direction, reads each element of a kernel as the first output of a
/// tile whose input is 1 at the element's position and 0 elsewhere.
template <int kOutputs, size_t kPoints>
void copy_winograd(bool packs, float* packed, float* weight, int64_t outputs, int64_t channels,
                   const double (&points)[kPoints]) {
  using Transform = WinogradTransform<kOutputs>;
  constexpr int kSize = kWinogradKernelSize;
  constexpr int kInputs = Transform::kInputs;
  // For each place and element of a kernel: the factors of the kernel, or the values of the places.
  double factors[kInputs][kSize] = {};
  if (packs) {
    kernel_transform(points, factors);
  } else {
    for (int i = 0; i < kSize; ++i) {
      double unit[kInputs] = {};
      double inputs[kInputs];
      unit[i] = 1;
      Transform::of_inputs(unit, inputs);
      for (int place = 0; place < kInputs; ++place) {
        double of_place[kInputs] = {};
        double sums[kOutputs];
        of_place[place] = inputs[place];
        Transform::of_sums(of_place, sums);
        factors[place][i] = sums[0];
      }
    }
  }
  const int64_t k = kInputs * kInputs * channels;
  for (int64_t n = 0; n < outputs; ++n) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      float* const kernel = weight + (n * channels + channel) * kSize * kSize;
      for (int i = 0; i < kInputs * kInputs * kSize * kSize; ++i) {
        const int place = i / (kSize * kSize);
        const int element = i % (kSize * kSize);
        const double factor = factors[place / kInputs][element / kSize] * factors[place % kInputs][element % kSize];
        float& stored = packed[in_float_panel(k, n, place * channels + channel, false)];
        if (packs) {
          stored += static_cast<float>(factor * kernel[element]);
        } else {
          kernel[element] += static_cast<float>(factor * stored);
        }
      }
    }
  }
}

}  // namespace

extern "C" {

/// packed_linear. The element size is 2 or 4.
void copy_linear(bool packs, char* packed, char* weight, int64_t size, int64_t outputs, int64_t inputs,
                 bool has_pairs) {
  Weight{packs, packed, weight, size, outputs, inputs}.copy(
      [=](int64_t n, int64_t k) { return in_float_panel(inputs, n, k, has_pairs); });
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

/// winograd_convolution with tiles of 2 or 4. The destination must be zero.
void copy_winograd(bool packs, float* packed, float* weight, int64_t tile, int64_t outputs, int64_t channels) {
  if (tile == 2) {
    copy_winograd<2>(packs, packed, weight, outputs, channels, kWinogradPointsOf2);
  } else {
    copy_winograd<4>(packs, packed, weight, outputs, channels, kWinogradPointsOf4);
  }
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
void copy_dynamic_halves(bool packs, char* packed, char* weight, int64_t blocks, int64_t outputs, int64_t inputs) {
  Weight{packs, packed, weight, 1, outputs, inputs}.copy_halves(
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
void copy_row_halves(bool packs, char* packed, char* weight, int64_t outputs, int64_t inputs) {
  constexpr int64_t kBytes = kQuantizedRowBlockBytes;
  Weight{packs, packed, weight, 1, outputs, inputs}.copy_halves(
      8, [=](int64_t n, int64_t k) { return n * inputs / 2 + k / (2 * kBytes) * kBytes + k % kBytes; },
      [](int64_t k) { return k % (2 * kBytes) >= kBytes; });
}

}  // extern "C"
