#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/gemm/matmul.h"
#include "kernels/math/vectorize.h"
#include "kernels/simd/run_time.h"
#include "kernels/simd/vector.h"
#include "kernels/simd/width.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// A tile of a convolution: sums of several output channels for outputs whose inputs are contiguous. Strides and
/// offsets are in elements.
struct ConvolutionTile {
  /// The inputs of the first output in the first input channel: `in[offsets[k]]` at kernel position `k`.
  const void* in;
  int64_t channels;
  int64_t channel_stride;
  const int64_t* offsets;
  int64_t kernel_numel;
  /// The weights of each output channel: for each input channel, the weights of all kernel positions.
  const void* const* weights;
  /// The start value of the sum of each output channel.
  const void* biases;
  /// The result: the sums, one row for each output channel.
  void* sums;
};

/// The outputs of one pixel of a depthwise convolution, for contiguous channels.
struct ConvolutionPixel {
  /// For `count` kernel positions: the inputs of all channels, and their weights.
  const void* const* in;
  const void* const* weights;
  int64_t count;
  /// The start values of the sums of all channels. Null for 0.
  const void* biases;
  /// The computed channels: `n` channels from `first` on.
  int64_t first;
  int64_t n;
  /// The result: the sums.
  void* sums;
};

/// The numbers of output channels of tiles, in decreasing order, and the largest number of vectors of outputs of each
/// channel. The sums, inputs and weights of a tile fit into the registers.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int kTileChannels[] = {8, 4, 1};
inline constexpr int kTileVectors = 3;
#else
inline constexpr int kTileChannels[] = {6, 4, 1};
inline constexpr int kTileVectors = 2;
#endif
/// The type-erased innermost loops of a convolution in elements of one type.
struct ConvolutionLoops {
  using SumTile = void (*)(const ConvolutionTile& tile);
  using SumPixel = void (*)(const ConvolutionPixel& pixel);
  using AddBias = void (*)(void* totals, const void* bias, int64_t n);

  const ProductLoops& product;
  /// `totals += bias` for `n` elements.
  AddBias add_bias;
  /// For each of kTileChannels, tiles of 1 to kTileVectors vectors. Null if the type has loops for matrix products
  /// only.
  const SumTile* tiles;
  int64_t vector_bytes;
  SumPixel sum_pixel;
  /// The number 1.
  const void* one;

  int64_t columns() const { return kTileVectors * vector_bytes / static_cast<int64_t>(elementSize(product.type)); }
};

namespace internal {

template <typename T>
void add_bias(void* totals, const void* bias, int64_t n) {
  const T value = *static_cast<const T*>(bias);
  T* total = static_cast<T*>(totals);
  vectorized_for(n, [=](int64_t i) { total[i] += value; });
}

#if defined(__GNUC__)

template <typename T, int kBytes, int kChannels, int kVectors>
KERNELS_ALWAYS_INLINE inline void sum_tile_of(const ConvolutionTile& tile) {
  using Vector = simd::Vector<T, kBytes>;
  constexpr int64_t kLanes = kBytes / sizeof(T);
  const T* weights[kChannels];
  Vector sums[kChannels][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kChannels; ++i) {
    weights[i] = static_cast<const T*>(tile.weights[i]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      sums[i][v] = Vector{} + static_cast<const T*>(tile.biases)[i];
    }
  }
  const T* in = static_cast<const T*>(tile.in);
  int64_t p = 0;
  for (int64_t c = 0; c < tile.channels; ++c, in += tile.channel_stride) {
    for (int64_t k = 0; k < tile.kernel_numel; ++k, ++p) {
      const T* const from = in + tile.offsets[k];
      Vector values[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        std::memcpy(&values[v], from + v * kLanes, kBytes);
      }
#pragma GCC unroll 8
      for (int i = 0; i < kChannels; ++i) {
        const T weight = weights[i][p];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) {
          sums[i][v] += weight * values[v];
        }
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kChannels; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      std::memcpy(static_cast<T*>(tile.sums) + (i * kVectors + v) * kLanes, &sums[i][v], kBytes);
    }
  }
}

/// Computes the sums of kVectors vectors of channels at a time.
template <typename T, int kBytes, int kVectors>
KERNELS_ALWAYS_INLINE inline void sum_vectors(const ConvolutionPixel& pixel, int64_t& i) {
  using Vector = simd::Vector<T, kBytes>;
  constexpr int64_t kLanes = kBytes / sizeof(T);
  for (; i + kVectors * kLanes <= pixel.n; i += kVectors * kLanes) {
    const int64_t channel = pixel.first + i;
    Vector sums[kVectors] = {};
    if (pixel.biases != nullptr) {
      std::memcpy(sums, static_cast<const T*>(pixel.biases) + channel, sizeof(sums));
    }
    for (int64_t k = 0; k < pixel.count; ++k) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        Vector values;
        Vector weights;
        std::memcpy(&values, static_cast<const T*>(pixel.in[k]) + channel + v * kLanes, kBytes);
        std::memcpy(&weights, static_cast<const T*>(pixel.weights[k]) + channel + v * kLanes, kBytes);
        sums[v] += weights * values;
      }
    }
    std::memcpy(static_cast<T*>(pixel.sums) + i, sums, sizeof(sums));
  }
}

template <typename T, int kBytes>
KERNELS_ALWAYS_INLINE inline void sum_pixel_of(const ConvolutionPixel& pixel) {
  int64_t i = 0;
  sum_vectors<T, kBytes, 4>(pixel, i);
  sum_vectors<T, kBytes, 1>(pixel, i);
  for (; i < pixel.n; ++i) {
    const int64_t channel = pixel.first + i;
    T sum = pixel.biases != nullptr ? static_cast<const T*>(pixel.biases)[channel] : T(0);
    for (int64_t k = 0; k < pixel.count; ++k) {
      sum += static_cast<const T*>(pixel.weights[k])[channel] * static_cast<const T*>(pixel.in[k])[channel];
    }
    static_cast<T*>(pixel.sums)[i] = sum;
  }
}

template <typename T>
void sum_pixel(const ConvolutionPixel& pixel) {
  sum_pixel_of<T, kVectorBytes>(pixel);
}

template <typename T, int kChannels, int kVectors>
void sum_tile(const ConvolutionTile& tile) {
  sum_tile_of<T, kVectorBytes, kChannels, kVectors>(tile);
}

#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)

/// For processors with vectors of twice the size of the baseline. The sums are the same.
template <typename T, int kChannels, int kVectors>
KERNELS_WIDE_VECTORS void sum_wide_tile(const ConvolutionTile& tile) {
  sum_tile_of<T, 2 * kVectorBytes, kChannels, kVectors>(tile);
}

template <typename T>
KERNELS_WIDE_VECTORS void sum_wide_pixel(const ConvolutionPixel& pixel) {
  sum_pixel_of<T, 2 * kVectorBytes>(pixel);
}

#endif

template <typename T, bool kIsWide, int kChannels, int kVectors>
constexpr ConvolutionLoops::SumTile choose_tile() {
#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)
  if constexpr (kIsWide) {
    return &sum_wide_tile<T, kChannels, kVectors>;
  }
#endif
  return &sum_tile<T, kChannels, kVectors>;
}

template <typename T, bool kIsWide>
constexpr ConvolutionLoops::SumPixel choose_pixel() {
#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)
  if constexpr (kIsWide) {
    return &sum_wide_pixel<T>;
  }
#endif
  return &sum_pixel<T>;
}

template <typename T, bool kIsWide, int... kVectors>
ConvolutionLoops convolution_loops(std::integer_sequence<int, kVectors...>) {
  static constexpr T one = 1;
  static constexpr ConvolutionLoops::SumTile tiles[] = {choose_tile<T, kIsWide, kTileChannels[0], kVectors + 1>()...,
                                                        choose_tile<T, kIsWide, kTileChannels[1], kVectors + 1>()...,
                                                        choose_tile<T, kIsWide, kTileChannels[2], kVectors + 1>()...};
  return {product_loops<T>(),         &add_bias<T>, tiles, kIsWide ? 2 * kVectorBytes : kVectorBytes,
          choose_pixel<T, kIsWide>(), &one};
}

#endif

}  // namespace internal

/// The loops for elements of type `T`, a ProductType.
template <typename T>
ConvolutionLoops convolution_loops() {
#if defined(__GNUC__)
  if constexpr (std::is_floating_point_v<T>) {
    using Vectors = std::make_integer_sequence<int, kTileVectors>;
#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)
    if (simd::has_wide_vectors()) {
      return internal::convolution_loops<T, /*kIsWide=*/true>(Vectors());
    }
#endif
    return internal::convolution_loops<T, /*kIsWide=*/false>(Vectors());
  }
#endif
  return {product_loops<T>(), &internal::add_bias<T>, nullptr, 0, nullptr, nullptr};
}

}  // namespace rules_executorch::kernels
