#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/convolution/packed/floats.h"
#include "kernels/gemm/element_products.h"
#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/layouts.h"
#include "kernels/gemm/loaded_elements.h"
#include "kernels/simd/inline.h"
#include "kernels/simd/simd.h"
#include "kernels/simd/width.h"

namespace rules_executorch::kernels::packed {

/// A tile of sums in registers: vectors of output channels, and pixels.
inline constexpr int kTileVectors = kVectorBytes == 64 ? 3 : 4 * 16 / kVectorBytes;
inline constexpr int kTilePixels = kVectorRegisters * 3 / 4 / kTileVectors;
inline constexpr int64_t kTileChannels = kTileVectors * kLanes;
/// If a vector is as wide as a panel, each vector of a tile is from another panel.
inline constexpr bool kSpansPanels = kLanes == kFloatPanelColumns;
/// The number of inputs of a step, as in products of panels.
inline constexpr int kStepRows = kVectorBytes == 32 ? 2 : 1;
static_assert(kStripColumns % kTileChannels == 0 && (kSpansPanels || kTileChannels == kFloatPanelColumns));

/// The operands of a tile of sums. Biases and residuals are added and bounds are applied before the sums are stored.
struct TileArgs {
  const float* const* pixels;  // for each tap, pointers to the inputs of all pixels of the block
  int64_t tap_stride;
  int64_t taps;
  int64_t depth;        // contiguous inputs at each tap
  int64_t first;        // the first of these inputs
  const float* weight;  // a row for each input
  int64_t weight_stride;
  int64_t panel_stride;
  const float* next_weight;  // weights that are needed next; one prefetch for each row
  int64_t next_stride;
  const float* bias;
  const float* residual;  // null for none
  int64_t residual_stride;
  float* out;
  int64_t out_stride;
  int64_t pixel_count;  // stored pixels; the other pixels of the tile repeat the last one
  float minimum;
  float maximum;
};

#if defined(__GNUC__)
/// Half of the columns of a panel, in one or two vectors, for groups with few channels.
inline constexpr int64_t kNarrowChannels = kFloatPanelColumns / 2;
inline constexpr int64_t kNarrowLanes = std::min(kNarrowChannels, kLanes);
using NarrowFloats = simd::Vector<float, kNarrowLanes * sizeof(float)>;
#else
inline constexpr int64_t kNarrowChannels = 0;
inline constexpr int64_t kNarrowLanes = kLanes;
using NarrowFloats = Floats;
#endif

/// Stores the sums of a tile. I has one index for each vector of each pixel, in row-major order. Inlined, so that the
/// sums stay in registers before the call.
template <int kVectors, typename V, int... I>
KERNELS_ALWAYS_INLINE inline void finish(const TileArgs& tile, int64_t channel, V* sums,
                                         std::integer_sequence<int, I...>) {
  constexpr int64_t kOfVector = sizeof(V) / sizeof(float);
  constexpr int kPixels = sizeof...(I) / kVectors;
  const int64_t last = tile.pixel_count - 1;
  const V biases[] = {simd::load_as<V>(tile.bias + channel + I % kVectors * kOfVector)...};
  ((sums[I] += biases[I]), ...);
  if (tile.residual != nullptr) {
    const float* const rows[] = {tile.residual + std::min<int64_t>(I / kVectors, last) * tile.residual_stride +
                                 channel...};
    ((sums[I] += simd::load_as<V>(rows[I] + I % kVectors * kOfVector)), ...);
  }
  // One pointer for each pixel, so that the offsets of its vectors are constants.
  float* pixels[kPixels];
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) {
    pixels[i] = tile.out + std::min<int64_t>(i, last) * tile.out_stride + channel;
  }
  const float minimum = tile.minimum;
  const float maximum = tile.maximum;
  ((sums[I] = simd::clamp(sums[I], minimum, maximum)), ...);
  (simd::store(pixels[I / kVectors] + I % kVectors * kOfVector, sums[I]), ...);
}

/// Adds the products of an input and a row of weights. With kPairs, the floats have the bits of pairs of BFloat16.
template <bool kPairs, typename V>
KERNELS_ALWAYS_INLINE inline V add_products(V sums, float in, V row) {
#if defined(KERNELS_MULTIPLIES_PAIRS)
  if constexpr (kPairs) {
    return simd::add_pairs(sums, in, row);
  }
#endif
  return sums + in * row;
}

#if defined(KERNELS_MULTIPLIES_BY_ELEMENT)

/// Adds the products of a vector of inputs of each pixel, and a row of weights for each of these inputs. Every other
/// row prefetches: with several tiles, this is as many lines as the tiles read.
template <int kVectors, typename V, int kSums, int kPixels, int... Lane>
KERNELS_ALWAYS_INLINE inline void add_rows(V (&sums)[kSums], const V (&pixels)[kPixels], const float* weight,
                                           const float* next, int64_t next_stride,
                                           std::integer_sequence<int, Lane...>) {
  ((Lane % 2 == 0 ? simd::prefetch<2>(next + Lane * next_stride) : void(),
    add_element_products<Lane, kVectors>(sums, pixels, weight + Lane * kFloatPanelColumns)),
   ...);
}

#endif

template <bool kPairs, typename V, int kVectors, int... I>
inline void sum_pixels(const TileArgs& tile, std::integer_sequence<int, I...> all) {
  constexpr int64_t kOfVector = sizeof(V) / sizeof(float);
  V sums[] = {((void)I, V{})...};
  const int64_t vector_stride = kOfVector == kFloatPanelColumns ? tile.panel_stride : kOfVector;
  const float* weight = tile.weight;
  const float* next = tile.next_weight;
  // Not read in each step, because barriers make the compiler read memory again.
  const int64_t depth = tile.depth;
  const int64_t next_stride = tile.next_stride;
  for (int64_t tap = 0; tap < tile.taps; ++tap) {
    const float* const* const pixels = tile.pixels + tap * tile.tap_stride;
    const float* const in[] = {pixels[I / kVectors] + tile.first...};
    int64_t p = 0;
#if defined(KERNELS_MULTIPLIES_BY_ELEMENT)
    if constexpr (!kPairs) {
      constexpr int kPixels = sizeof...(I) / kVectors;
      for (; p + kOfVector <= depth; p += kOfVector) {
        V pixels_of_in[kPixels];
#pragma GCC unroll 8
        for (int i = 0; i < kPixels; ++i) {
          pixels_of_in[i] = simd::load_as<V>(in[i * kVectors] + p);
        }
        add_rows<kVectors>(sums, pixels_of_in, weight, next, next_stride, std::make_integer_sequence<int, kOfVector>());
        weight += kOfVector * kFloatPanelColumns;
        next += kOfVector * next_stride;
      }
    }
#endif
    const auto add_row = [&](int64_t i, const float* columns) KERNELS_ALWAYS_INLINE {
      simd::prefetch<2>(next);  // into the L2 cache
      const V row[] = {simd::load_as<V>(columns + I % kVectors * vector_stride)...};
      ((sums[I] = add_products<kPairs>(sums[I], load_float(in[I] + i), row[I])), ...);
      next += next_stride;
    };
    if constexpr (kStepRows > 1) {
      for (; p + kStepRows <= depth; p += kStepRows, weight += kStepRows * kFloatPanelColumns) {
#pragma GCC unroll 2
        for (int i = 0; i < kStepRows; ++i) {
          add_row(p + i, weight + i * kFloatPanelColumns);
        }
      }
    }
    for (; p < depth; ++p, weight += kFloatPanelColumns) {
      add_row(p, weight);
    }
  }
  finish<kVectors>(tile, 0, sums, all);
}

template <bool kPairs, typename V, int kPixels, int kVectors>
void sum_tile(const TileArgs& tile) {
  sum_pixels<kPairs, V, kVectors>(tile, std::make_integer_sequence<int, kPixels * kVectors>());
}

using SumTile = void (*)(const TileArgs& tile);

/// The function for tiles of at least `pixels` pixels.
template <bool kPairs, typename V, int kVectors>
SumTile tile_of_pixels(int64_t pixels) {
  constexpr int kHalf = (kTilePixels + 1) / 2;
  return pixels > kHalf ? &sum_tile<kPairs, V, kTilePixels, kVectors>
         : pixels > 1   ? &sum_tile<kPairs, V, kHalf, kVectors>
                        : &sum_tile<kPairs, V, 1, kVectors>;
}

/// The same for at least `vectors` vectors.
template <bool kPairs, int kVectors = kTileVectors>
SumTile tile_of(int64_t pixels, int64_t vectors) {
  // A strip has fewer vectors only if a tile spans panels.
  if constexpr (kSpansPanels && kVectors > 1) {
    if (vectors < kVectors) {
      return tile_of<kPairs, kVectors - 1>(pixels, vectors);
    }
  }
  return tile_of_pixels<kPairs, Floats, kVectors>(pixels);
}

/// The same for half a panel.
inline SumTile narrow_tile_of(int64_t pixels) {
  return tile_of_pixels<false, NarrowFloats, std::max<int64_t>(kNarrowChannels / kNarrowLanes, 1)>(pixels);
}

}  // namespace rules_executorch::kernels::packed
