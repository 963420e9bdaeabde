#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/convolution/packed/float_tile.h"
#include "kernels/convolution/packed/floats.h"
#include "kernels/gemm/loaded_elements.h"
#include "kernels/simd/simd.h"

namespace rules_executorch::kernels::packed {

/// The number of pixels of a tile of a depthwise convolution.
inline constexpr int kDepthwisePixels = 4;

/// The sums of a depthwise convolution for kVectors vectors of channels from `channel` on, with pixels of type P.
template <typename P, int kVectors, int... I>
inline void sum_channels(const TileArgs& tile, int64_t channel, std::integer_sequence<int, I...> all) {
  Floats sums[] = {((void)I, Floats{})...};
  for (int64_t tap = 0; tap < tile.taps; ++tap) {
    const float* const* const pixels = tile.pixels + tap * tile.tap_stride;
    const float* const weight = tile.weight + tap * tile.weight_stride + channel;
    const Floats row[] = {simd::load(weight + I % kVectors * kLanes)...};
    const P* const in[] = {reinterpret_cast<const P*>(pixels[I / kVectors]) + channel...};
    ((sums[I] += load_elements(in[I] + I % kVectors * kLanes) * row[I]), ...);
  }
  finish<kVectors>(tile, channel, sums, all);
}

template <typename P>
void sum_depthwise(const TileArgs& tile) {
  constexpr auto kTwo = std::make_integer_sequence<int, 2 * kDepthwisePixels>();
  constexpr auto kOne = std::make_integer_sequence<int, kDepthwisePixels>();
  const int64_t n = tile.depth;
  int64_t channel = 0;
  for (; channel + 2 * kLanes <= n; channel += 2 * kLanes) {
    sum_channels<P, 2>(tile, channel, kTwo);
  }
  for (; channel < n && n >= kLanes; channel += kLanes) {
    // Some of the last channels may be computed twice.
    sum_channels<P, 1>(tile, std::min(channel, n - kLanes), kOne);
  }
  for (; channel < n; ++channel) {
    for (int64_t i = 0; i < tile.pixel_count; ++i) {
      float sum =
          tile.bias[channel] + (tile.residual != nullptr ? tile.residual[i * tile.residual_stride + channel] : 0);
      for (int64_t tap = 0; tap < tile.taps; ++tap) {
        const auto* const in = reinterpret_cast<const P*>(tile.pixels[tap * tile.tap_stride + i]);
        sum += load_element(in + channel) * tile.weight[tap * tile.weight_stride + channel];
      }
      const float raised = sum < tile.minimum ? tile.minimum : sum;
      tile.out[i * tile.out_stride + channel] = raised > tile.maximum ? tile.maximum : raised;
    }
  }
}

/// An input of neighboring tiles: the pointer of the first pixel whose kernel covers the input, or of the last pixel.
template <int kRows, int kStride>
KERNELS_ALWAYS_INLINE inline const float* input_of(const TileArgs& tile, int64_t row_pixels, int row, int column) {
  constexpr int kKernel = 3;
  const int y = std::min(row / kStride, kRows - 1);
  const int x = std::min(column / kStride, kDepthwisePixels - 1);
  return tile.pixels[((row - y * kStride) * kKernel + column - x * kStride) * tile.tap_stride + y * row_pixels + x];
}

/// The sums of sum_depthwise() for channels `channel` to `n` (exclusive), for 3 x 3 kernels with neighboring pixels in
/// `kRows` rows. The tiles are `row_pixels` pixels apart. Each input is loaded once for all sums that use the input.
/// The order of additions is the same.
template <int kRows, int kStride>
void sum_neighbors(const TileArgs (&tiles)[kRows], int64_t row_pixels, int64_t channel, int64_t n) {
  constexpr int kKernel = 3;
  constexpr int kInRows = (kRows - 1) * kStride + kKernel;
  constexpr int kColumns = (kDepthwisePixels - 1) * kStride + kKernel;
  // Copies, because the compiler would read the originals again after each store.
  TileArgs rows[kRows];
  std::copy_n(tiles, kRows, rows);
  const TileArgs& tile = rows[0];
  // Of short vectors, so many use the pointers that finding them first takes less time.
  constexpr bool kFindsFirst = kLanes <= 4;
  const float* inputs[kInRows][kColumns];
  if constexpr (kFindsFirst) {
#pragma GCC unroll 5
    for (int row = 0; row < kInRows; ++row) {
#pragma GCC unroll 9
      for (int column = 0; column < kColumns; ++column) {
        inputs[row][column] = input_of<kRows, kStride>(tile, row_pixels, row, column);
      }
    }
  }
  for (; channel < n; channel += kLanes) {
    // Some of the last channels may be computed twice.
    channel = std::min(channel, n - kLanes);
    Floats weights[kKernel * kKernel];
    const float* weight = tile.weight + channel;
#pragma GCC unroll 9
    for (int i = 0; i < kKernel * kKernel; ++i, weight += tile.weight_stride) {
      weights[i] = simd::load(weight);
    }
    Floats sums[kRows][kDepthwisePixels];
#pragma GCC unroll 5
    for (int row = 0; row < kInRows; ++row) {
#pragma GCC unroll 9
      for (int column = 0; column < kColumns; ++column) {
        const float* const from =
            kFindsFirst ? inputs[row][column] : input_of<kRows, kStride>(tile, row_pixels, row, column);
        const Floats in = simd::load(from + channel);
#pragma GCC unroll 2
        for (int y = 0; y < kRows; ++y) {
          const int kernel_y = row - y * kStride;
#pragma GCC unroll 4
          for (int x = 0; x < kDepthwisePixels; ++x) {
            const int kernel_x = column - x * kStride;
            if (kernel_y == 0 && kernel_x == 0) {
              sums[y][x] = in * weights[0];
            } else if (kernel_y >= 0 && kernel_y < kKernel && kernel_x >= 0 && kernel_x < kKernel) {
              sums[y][x] += in * weights[kernel_y * kKernel + kernel_x];
            }
          }
        }
      }
    }
#pragma GCC unroll 2
    for (int y = 0; y < kRows; ++y) {
      finish<1>(rows[y], channel, sums[y], std::make_integer_sequence<int, kDepthwisePixels>());
    }
  }
}

}  // namespace rules_executorch::kernels::packed
