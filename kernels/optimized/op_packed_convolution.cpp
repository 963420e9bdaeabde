#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kernels/copy/transposition.h"
#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/layouts.h"
#include "kernels/gemm/matmul.h"
#include "kernels/math/activation.h"
#include "kernels/math/bits.h"
#include "kernels/math/reduced_float.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/simd/simd.h"
#include "kernels/simd/width.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/memory_format.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

using Floats = simd::Vector<float>;
constexpr int64_t kFloats = simd::kLanes<float>;

/// A tile of sums in registers: vectors of output channels, and pixels.
constexpr int kTileVectors = kVectorBytes == 64 ? 3 : 4 * 16 / kVectorBytes;
constexpr int kTilePixels = kVectorRegisters * 3 / 4 / kTileVectors;
constexpr int64_t kTileChannels = kTileVectors * kFloats;
/// Where vectors are as wide as a panel, those of a tile are of as many panels.
constexpr bool kSpansPanels = kFloats == kFloatPanelColumns;
static_assert(kStripColumns % kTileChannels == 0 && (kSpansPanels || kTileChannels == kFloatPanelColumns));
/// Pixels of a tile of a depthwise convolution, and channels at most that are computed of all pixels of a row, before
/// the others are.
constexpr int kDepthwisePixels = 4;
constexpr int64_t kDepthwiseChannels = 192;
/// Places of inputs that are found at a time, for all pixels of a block; pixels at most.
constexpr int64_t kPlaces = 4096;
constexpr int64_t kBlockPixels = 512;
/// Inputs that are summed up before a tile is written: their weights in the tile's panels stay in the first cache.
constexpr int64_t kDepth = 256;
/// Inputs of a block that become floats: they stay in the second cache.
constexpr int64_t kConverted = 65536;
/// Multiplications that a thread takes at least. One of a depthwise convolution takes as long as some others.
constexpr int64_t kPartProducts = 8 * kGrain;
constexpr int64_t kDepthwiseCost = 4;

/// One of the two spatial dimensions.
struct Axis {
  int64_t in_size;
  int64_t kernel_size;
  int64_t out_size;
  int64_t stride;
  int64_t dilation;
  int64_t padding;
  int64_t in_stride;  // in elements

  int64_t first_input(int64_t out) const { return out * stride - padding; }
  /// Inputs from the first to the last one that outputs `first` to `last` meet.
  int64_t inputs(int64_t first, int64_t last) const {
    return (last - first) * stride + (kernel_size - 1) * dilation + 1;
  }
};

#if defined(KERNELS_MULTIPLIES_PAIRS)
template <typename E>
constexpr bool kMultipliesPairs = std::is_same_v<E, BFloat16>;
#else
template <typename E>
constexpr bool kMultipliesPairs = false;
#endif

/// Whether loads of vectors make floats of elements as fast as they are multiplied.
#if defined(KERNELS_LOADS_HALF)
template <typename E>
constexpr bool kLoadsFloats = true;
#else
template <typename E>
constexpr bool kLoadsFloats = !std::is_same_v<E, Half>;
#endif

/// Makes floats of elements of fewer bits.
template <typename E>
void load_row(const E* from, float* to, int64_t n) {
  int64_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    simd::store(to + i, load_elements(from + i));
  }
  for (; i < n; ++i) {
    to[i] = load_element(from + i);
  }
}

/// Rounds floats to elements of fewer bits.
template <typename E>
void store_row(const float* from, E* to, int64_t n) {
  int64_t i = 0;
  if constexpr (std::is_same_v<E, BFloat16>) {
#if defined(KERNELS_STORES_BFLOAT16)
    for (; i + kFloats <= n; i += kFloats) {
      simd::store_bfloat16(to + i, simd::load(from + i));
    }
#endif
    vectorized_for(n - i, [=](int64_t j) { to[i + j].x = float_to_bfloat16(from[i + j]); });
  } else {
#if defined(KERNELS_LOADS_HALF)
    for (; i + kFloats <= n; i += kFloats) {
      simd::store_half(to + i, simd::load(from + i));
    }
#endif
    vectorized_for(n - i, [=](int64_t j) { to[i + j].x = float_to_half(from[i + j]); });
  }
}

/// What becomes of sums on their way to the result: biases and addends are added, bounds are kept.
struct Tile {
  const float* const* pixels;  // for each place of the inputs, those of all pixels of the block
  int64_t place_stride;
  int64_t places;
  int64_t depth;        // inputs that are neighbors at each place
  int64_t first;        // of them
  const float* weight;  // a row for each input
  int64_t weight_stride;
  int64_t panel_stride;
  const float* next_weight;  // what is read later; a part of it comes from memory with each row
  int64_t next_stride;
  const float* bias;
  const float* addend;  // null for none
  int64_t addend_stride;
  float* out;
  int64_t out_stride;
  int64_t pixel_count;  // which are `out`'s; others in the tile are computed again
  float minimum;
  float maximum;
};

#if defined(__GNUC__)
/// Half of the columns of a panel, in one vector or two: groups may have no more channels.
constexpr int64_t kNarrowChannels = kFloatPanelColumns / 2;
constexpr int64_t kNarrowFloats = std::min(kNarrowChannels, kFloats);
using NarrowFloats = simd::Vector<float, kNarrowFloats * sizeof(float)>;
#else
constexpr int64_t kNarrowChannels = 0;
constexpr int64_t kNarrowFloats = kFloats;
using NarrowFloats = Floats;
#endif

/// Writes the sums of a tile; I goes through its pixels and their vectors in row-major order. Inlined, so that the sums
/// are in registers before, too.
template <int kVectors, typename V, int... I>
KERNELS_ALWAYS_INLINE inline void finish(const Tile& tile, int64_t channel, V* sums, std::integer_sequence<int, I...>) {
  constexpr int64_t kLanes = sizeof(V) / sizeof(float);
  const int64_t last = tile.pixel_count - 1;
  const V biases[] = {simd::load_as<V>(tile.bias + channel + I % kVectors * kLanes)...};
  ((sums[I] += biases[I]), ...);
  if (tile.addend != nullptr) {
    const float* const rows[] = {tile.addend + std::min<int64_t>(I / kVectors, last) * tile.addend_stride + channel...};
    ((sums[I] += simd::load_as<V>(rows[I] + I % kVectors * kLanes)), ...);
  }
  float* const rows[] = {tile.out + std::min<int64_t>(I / kVectors, last) * tile.out_stride + channel...};
  const float minimum = tile.minimum;
  const float maximum = tile.maximum;
  ((sums[I] = simd::clamp(sums[I], minimum, maximum), simd::store(rows[I] + I % kVectors * kLanes, sums[I])), ...);
}

/// Adds the products of an input and a row of weights: pairs of BFloat16 where `kPairs`, which floats have the bits of.
template <bool kPairs, typename V>
KERNELS_ALWAYS_INLINE inline V add_products(V sums, float in, V row) {
#if defined(KERNELS_MULTIPLIES_PAIRS)
  if constexpr (kPairs) {
    return simd::add_pairs(sums, in, row);
  }
#endif
  return sums + in * row;
}

template <bool kPairs, typename V, int kVectors, int... I>
inline void sum_pixels(const Tile& tile, std::integer_sequence<int, I...> all) {
  constexpr int64_t kLanes = sizeof(V) / sizeof(float);
  V sums[] = {((void)I, V{})...};
  const int64_t vector_stride = kLanes == kFloatPanelColumns ? tile.panel_stride : kLanes;
  const float* weight = tile.weight;
  const float* next = tile.next_weight;
  for (int64_t place = 0; place < tile.places; ++place) {
    const float* const* const pixels = tile.pixels + place * tile.place_stride;
    const float* const in[] = {pixels[I / kVectors] + tile.first...};
    for (int64_t p = 0; p < tile.depth; ++p, weight += kFloatPanelColumns, next += tile.next_stride) {
      simd::prefetch<2>(next);  // into the second cache
      const V row[] = {simd::load_as<V>(weight + I % kVectors * vector_stride)...};
      ((sums[I] = add_products<kPairs>(sums[I], load_float(in[I] + p), row[I])), ...);
    }
  }
  finish<kVectors>(tile, 0, sums, all);
}

template <bool kPairs, typename V, int kPixels, int kVectors>
void sum_tile(const Tile& tile) {
  sum_pixels<kPairs, V, kVectors>(tile, std::make_integer_sequence<int, kPixels * kVectors>());
}

using SumTile = void (*)(const Tile& tile);

/// The function for tiles of `pixels` pixels at least.
template <bool kPairs, typename V, int kVectors>
SumTile tile_of_pixels(int64_t pixels) {
  constexpr int kHalf = (kTilePixels + 1) / 2;
  return pixels > kHalf ? &sum_tile<kPairs, V, kTilePixels, kVectors>
         : pixels > 1   ? &sum_tile<kPairs, V, kHalf, kVectors>
                        : &sum_tile<kPairs, V, 1, kVectors>;
}

/// The same for `vectors` vectors at least.
template <bool kPairs, int kVectors = kTileVectors>
SumTile tile_of(int64_t pixels, int64_t vectors) {
  // Only where a tile spans panels, a strip may have fewer of them.
  if constexpr (kSpansPanels && kVectors > 1) {
    if (vectors < kVectors) {
      return tile_of<kPairs, kVectors - 1>(pixels, vectors);
    }
  }
  return tile_of_pixels<kPairs, Floats, kVectors>(pixels);
}

/// The same for half a panel.
SumTile narrow_tile_of(int64_t pixels) {
  return tile_of_pixels<false, NarrowFloats, std::max<int64_t>(kNarrowChannels / kNarrowFloats, 1)>(pixels);
}

/// The sums of a depthwise convolution in some channels from `channel` on, of pixels of elements of type P.
template <typename P, int kVectors, int... I>
inline void sum_channels(const Tile& tile, int64_t channel, std::integer_sequence<int, I...> all) {
  Floats sums[] = {((void)I, Floats{})...};
  for (int64_t place = 0; place < tile.places; ++place) {
    const float* const* const pixels = tile.pixels + place * tile.place_stride;
    const float* const weight = tile.weight + place * tile.weight_stride + channel;
    const Floats row[] = {simd::load(weight + I % kVectors * kFloats)...};
    const P* const in[] = {reinterpret_cast<const P*>(pixels[I / kVectors]) + channel...};
    ((sums[I] += load_elements(in[I] + I % kVectors * kFloats) * row[I]), ...);
  }
  finish<kVectors>(tile, channel, sums, all);
}

template <typename P>
void sum_depthwise(const Tile& tile) {
  constexpr auto kTwo = std::make_integer_sequence<int, 2 * kDepthwisePixels>();
  constexpr auto kOne = std::make_integer_sequence<int, kDepthwisePixels>();
  const int64_t n = tile.depth;
  int64_t channel = 0;
  for (; channel + 2 * kFloats <= n; channel += 2 * kFloats) {
    sum_channels<P, 2>(tile, channel, kTwo);
  }
  for (; channel < n && n >= kFloats; channel += kFloats) {
    // Some of the last channels may be computed twice.
    sum_channels<P, 1>(tile, std::min(channel, n - kFloats), kOne);
  }
  for (; channel < n; ++channel) {
    for (int64_t i = 0; i < tile.pixel_count; ++i) {
      float sum = tile.bias[channel] + (tile.addend != nullptr ? tile.addend[i * tile.addend_stride + channel] : 0);
      for (int64_t place = 0; place < tile.places; ++place) {
        const auto* const in = reinterpret_cast<const P*>(tile.pixels[place * tile.place_stride + i]);
        sum += load_element(in + channel) * tile.weight[place * tile.weight_stride + channel];
      }
      const float raised = sum < tile.minimum ? tile.minimum : sum;
      tile.out[i * tile.out_stride + channel] = raised > tile.maximum ? tile.maximum : raised;
    }
  }
}

/// The same in channels from `channel` to `n`, for kernels of 3 x 3 whose pixels are next to each other, in `kRows`
/// rows: tiles that are `row_pixels` pixels apart. Each input is loaded once for all sums that it is a part of, whose
/// order stays.
template <int kRows, int kStride>
void sum_neighbors(const Tile (&tiles)[kRows], int64_t row_pixels, int64_t channel, int64_t n) {
  constexpr int kKernel = 3;
  constexpr int kInRows = (kRows - 1) * kStride + kKernel;
  constexpr int kColumns = (kDepthwisePixels - 1) * kStride + kKernel;
  const Tile& tile = tiles[0];
  for (; channel < n; channel += kFloats) {
    // Some of the last channels may be computed twice.
    channel = std::min(channel, n - kFloats);
    Floats weights[kKernel * kKernel];
#pragma GCC unroll 9
    for (int i = 0; i < kKernel * kKernel; ++i) {
      weights[i] = simd::load(tile.weight + i * tile.weight_stride + channel);
    }
    Floats sums[kRows][kDepthwisePixels] = {};
#pragma GCC unroll 5
    for (int row = 0; row < kInRows; ++row) {
      // An input is the first one that a row of some pixel's kernel meets, or else one of the last pixel's.
      const int first_y = std::min(row / kStride, kRows - 1);
      const float* const* const pixels =
          tile.pixels + (row - first_y * kStride) * kKernel * tile.place_stride + first_y * row_pixels;
#pragma GCC unroll 9
      for (int column = 0; column < kColumns; ++column) {
        const int first_x = std::min(column / kStride, kDepthwisePixels - 1);
        const Floats in = simd::load(pixels[(column - first_x * kStride) * tile.place_stride + first_x] + channel);
#pragma GCC unroll 2
        for (int y = 0; y < kRows; ++y) {
          const int kernel_y = row - y * kStride;
#pragma GCC unroll 4
          for (int x = 0; x < kDepthwisePixels; ++x) {
            const int kernel_x = column - x * kStride;
            if (kernel_y >= 0 && kernel_y < kKernel && kernel_x >= 0 && kernel_x < kKernel) {
              sums[y][x] += in * weights[kernel_y * kKernel + kernel_x];
            }
          }
        }
      }
    }
#pragma GCC unroll 2
    for (int y = 0; y < kRows; ++y) {
      finish<1>(tiles[y], channel, sums[y], std::make_integer_sequence<int, kDepthwisePixels>());
    }
  }
}

/// The input channels of a sum, with one that fills them up to pairs: as weights are packed.
int64_t packed_channels(ScalarType type, int64_t channels, int64_t groups) {
  const int64_t of_group = channels / groups;
  return type == ScalarType::BFloat16 && groups == 1 ? (of_group + 1) / 2 * 2 : of_group;
}

/// The sizes of a convolution of channels-last tensors. Strides are in elements.
struct ConvolutionShape {
  int64_t batch;
  int64_t in_channels;
  int64_t channels;  // of the input, and one that fills them up to pairs
  int64_t out_channels;
  int64_t groups;
  Axis y;
  Axis x;
  int64_t in_batch_stride;
  int64_t in_channel_stride;
  Activation activation;
  float minimum;
  float maximum;
  bool
      is_depthwise;  // each output channel is made of an input channel of its own: weights have a row for each position
};

/// A convolution of elements of type E. Sums are floats, and are rounded once. Of elements with fewer bits than a float
/// has, the shape counts pairs, as if they were floats, where the instruction set multiplies them, and where depthwise
/// convolutions read the input in place. Otherwise a block's inputs and weights become floats in copies.
template <typename E>
struct PackedConvolution : ConvolutionShape {
  static constexpr bool kIsFloat = std::is_same_v<E, float>;

  const E* in;
  const E* weight;
  const E* bias;    // null for none
  const E* addend;  // null for none
  E* out;
  bool has_pairs;     // in the weights: inputs 2 * k and 2 * k + 1 of each output channel are neighbors
  bool counts_pairs;  // of input channels

  /// Reads in which order the input lies, and how the work is divided.
  void plan() {
    has_pairs = std::is_same_v<E, BFloat16> && !is_depthwise && channels / groups % 2 == 0;
    const bool is_last = in_channel_stride == 1 && x.in_stride == channels && in_channels == channels;
    counts_pairs =
        is_depthwise ? !kIsFloat && kLoadsFloats<E> && is_last && channels % 2 == 0 : kMultipliesPairs<E> && has_pairs;
    is_copied = converts() || !is_last || (groups == 1 && channels <= kCopiedImageMostChannels);
    if (counts_pairs) {
      channels /= 2;
      if (!is_copied) {
        for (int64_t* const stride : {&in_batch_stride, &y.in_stride, &x.in_stride}) {
          *stride /= 2;
        }
      }
    }
    // Pixels of a row of the kernel are one place in a copy where they are neighbors.
    is_merged = is_copied && groups == 1 && x.dilation == 1;
    places = y.kernel_size * (is_merged ? 1 : x.kernel_size);
    depth = is_depthwise ? 1 : channels / groups * (is_merged ? x.kernel_size : 1);
    const int64_t most_converted = converts() ? kConverted / channels : kBlockPixels;
    const int64_t most = std::max<int64_t>(std::min({kBlockPixels, kPlaces / places, most_converted}) / 8 * 8, 8);
    if (is_copied) {
      // Rows of pixels, or a part of one.
      const int64_t most_rows = std::max<int64_t>(most / x.out_size, 1);
      const int64_t rows = even_size(y.out_size, most_rows, 1);
      block_pixels = x.out_size > most ? even_size(x.out_size, most, 1) : rows * x.out_size;
      row_blocks = divide_up(x.out_size, block_pixels);
      blocks = batch * (row_blocks > 1 ? row_blocks * y.out_size : divide_up(y.out_size, rows));
      copy_size = y.inputs(0, rows - 1) * x.inputs(0, std::min(block_pixels, x.out_size) - 1) * channels;
    } else {
      block_pixels = even_size(batch * y.out_size * x.out_size, most, 8);
      blocks = divide_up(batch * y.out_size * x.out_size, block_pixels);
    }
    place_stride = block_pixels + kTilePixels;
    filled_channels = filled_columns(out_channels / groups);
    strips = is_depthwise ? 1 : divide_up(filled_channels, kStripColumns);
    tiles = divide_up(block_pixels, tile_pixels());
    if constexpr (!kIsFloat) {
      weights_size = is_depthwise ? (places + 1) * out_channels : converts() ? kDepth * kStripColumns : 0;
      sums_size = is_depthwise ? 2 * kDepthwisePixels * out_channels : block_pixels * kStripColumns;
    }
  }

  /// Bytes of memory for a part of the work.
  int64_t scratch_size() const {
    return (place_stride * places * 8 + (copy_size + channels + weights_size + sums_size) * 4 + 63) / 64 * 64;
  }

  int64_t parts() const {
    const int64_t products = batch * y.out_size * x.out_size * out_channels * places * depth;
    const int64_t cost = products * (is_depthwise ? kDepthwiseCost : 1);
    return std::max<int64_t>(1, std::min({blocks * block_units(), cost / kPartProducts, thread_count()}));
  }

  void compute(char* scratch) const {
    const int64_t count = parts();
    const int64_t units = blocks * block_units();
    parallel_for(0, count, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        compute_part(place_at(part * units / count), place_at((part + 1) * units / count),
                     scratch + part * scratch_size());
      }
    });
  }

  bool is_copied;
  bool is_merged;
  int64_t places;
  int64_t depth;
  int64_t block_pixels;
  int64_t row_blocks = 1;
  int64_t blocks;
  int64_t copy_size = 0;
  int64_t weights_size = 0;  // of those that become floats
  int64_t sums_size = 0;     // of those that are no results
  int64_t place_stride;
  int64_t filled_channels;
  int64_t strips;  // of a group
  int64_t tiles;   // of a block

 private:
  /// A place in the work, in its order: of each block, each strip of each group, of each strip, the tiles.
  struct Place {
    int64_t block;
    int64_t strip;  // counted through the groups
    int64_t tile;
  };

  /// Memory of a part of the work.
  struct Scratch {
    const float** pixels;
    float* zeros;
    float* copied;
    float* weights;
    float* sums;
  };

  /// Pixels that are computed together: from `first` on, counted through the batch.
  struct Block {
    int64_t first;
    int64_t count;
  };

  /// Whether inputs and weights become floats.
  bool converts() const { return !kIsFloat && !counts_pairs; }

  /// The elements as those of floats, whose bits they are.
  static const float* floats(const E* elements) { return reinterpret_cast<const float*>(elements); }

  static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

  /// The size of as few parts of `all` as there may be, each of `most` at most: about the same for all of them.
  static int64_t even_size(int64_t all, int64_t most, int64_t step) {
    return divide_up(divide_up(all, divide_up(all, most)), step) * step;
  }

  int64_t groups_of_strips() const { return is_depthwise ? 1 : groups; }

  int64_t tile_pixels() const { return is_depthwise ? kDepthwisePixels : kTilePixels; }

  /// Units are what takes the same time: a tile for some channels.
  int64_t group_units() const { return tiles * (is_depthwise ? 1 : filled_channels / kFloatPanelColumns); }
  int64_t block_units() const { return groups_of_strips() * group_units(); }

  Place place_at(int64_t unit) const {
    Place place{unit / block_units(), unit % block_units() / group_units() * strips, 0};
    unit %= group_units();
    const int64_t strip_units = tiles * (is_depthwise ? 1 : kStripColumns / kFloatPanelColumns);
    const int64_t strip = unit / strip_units;
    place.strip += strip;
    place.tile = unit % strip_units / (is_depthwise ? 1 : strip_width(filled_channels, strip) / kFloatPanelColumns);
    return place;
  }

  Block block_at(int64_t index) const {
    const int64_t pixels = y.out_size * x.out_size;
    if (!is_copied) {
      return {index * block_pixels, std::min(block_pixels, batch * pixels - index * block_pixels)};
    }
    if (row_blocks > 1) {
      const int64_t column = index % row_blocks * block_pixels;
      return {index / row_blocks * x.out_size + column, std::min(block_pixels, x.out_size - column)};
    }
    const int64_t of_image = blocks / batch;
    const int64_t first = index % of_image * block_pixels;
    return {index / of_image * pixels + first, std::min(block_pixels, pixels - first)};
  }

  void compute_part(const Place& first, const Place& last, char* memory) const {
    const float** const pixels = reinterpret_cast<const float**>(memory);
    float* const zeros = reinterpret_cast<float*>(pixels + place_stride * places);
    float* const copied = zeros + channels;
    const Scratch scratch{pixels, zeros, copied, copied + copy_size, copied + copy_size + weights_size};
    std::fill_n(zeros, channels, 0.0f);
    if constexpr (!kIsFloat) {
      if (is_depthwise) {
        float* const biases = scratch.weights + places * out_channels;
        load_row(weight, scratch.weights, places * out_channels);
        std::fill_n(biases, out_channels, 0.0f);
        if (bias != nullptr) {
          load_row(bias, biases, out_channels);
        }
      }
    }
    const int64_t of_block = groups_of_strips() * strips;
    for (int64_t index = first.block; index <= last.block && index < blocks; ++index) {
      const Place begin = index == first.block ? first : Place{index, 0, 0};
      const Place end = index == last.block ? last : Place{index, of_block, 0};
      Block block = block_at(index);
      // The pixels from the first strip's first tile to the last strip's last one.
      int64_t from = begin.tile * tile_pixels();
      int64_t to = end.tile > 0 ? std::min(end.tile * tile_pixels(), block.count) : block.count;
      const int64_t end_strip = end.strip + (end.tile > 0 ? 1 : 0);
      if (begin.strip >= end_strip) {
        continue;
      }
      const bool is_one = begin.strip + 1 == end_strip;
      if (is_one && from >= to) {
        continue;
      }
      if (is_one && !is_copied) {
        // No others are looked for.
        block = {block.first + from, to - from};
        from = 0;
        to = block.count;
      }
      find(block, pixels, zeros, copied);
      if (is_depthwise) {
        compute_depthwise(block, from, to, scratch);
        continue;
      }
      for (int64_t strip = begin.strip; strip < end_strip; ++strip) {
        compute_strip(block, strip == begin.strip ? from : 0, strip + 1 == end_strip ? to : block.count, scratch,
                      strip / strips, strip % strips);
      }
    }
  }

  void find(const Block& block, const float** pixels, const float* zeros, float* copied) const {
    if (is_copied) {
      find_copied(block, pixels, copied);
    } else {
      find_in_place(block, pixels, zeros);
    }
    for (int64_t place = 0; place < places; ++place) {
      // Tiles that are not full compute a pixel again.
      const float** const all = pixels + place * place_stride + block.count;
      std::fill_n(all, kTilePixels, all[-1]);
    }
  }

  /// Copies what a block meets, with zeros around it, and finds it there.
  void find_copied(const Block& block, const float** pixels, float* copied) const {
    const int64_t image = y.out_size * x.out_size;
    const int64_t n = block.first / image;
    const int64_t first_y = block.first % image / x.out_size;
    const int64_t first_x = block.first % x.out_size;
    const int64_t rows = (first_x + block.count + x.out_size - 1) / x.out_size;
    const int64_t columns = std::min(block.count, x.out_size);
    const int64_t in_rows = y.inputs(0, rows - 1);
    const int64_t in_columns = x.inputs(0, columns - 1);
    const int64_t row_size = in_columns * channels;
    const int64_t from_x = x.first_input(first_x);
    const int64_t inside = std::clamp<int64_t>(-from_x, 0, in_columns);
    const int64_t behind = std::clamp<int64_t>(x.in_size - from_x, inside, in_columns);
    for (int64_t row = 0; row < in_rows; ++row) {
      float* const target = copied + row * row_size;
      const int64_t in_y = y.first_input(first_y) + row;
      if (in_y < 0 || in_y >= y.in_size) {
        std::fill_n(target, row_size, 0.0f);
        continue;
      }
      std::fill_n(target, inside * channels, 0.0f);
      std::fill_n(target + behind * channels, (in_columns - behind) * channels, 0.0f);
      const E* const source = in + n * in_batch_stride + in_y * y.in_stride + (from_x + inside) * x.in_stride;
      if (in_channels != channels) {
        std::memset(target + inside * channels, 0, (behind - inside) * channels * sizeof(float));
      }
      if (converts()) {
        convert_row(source, target + inside * channels, behind - inside);
        continue;
      }
      if constexpr (kIsFloat) {
        if (x.in_stride == 1) {
          const Transposition matrix{sizeof(float), in_channel_stride * int64_t{sizeof(float)},
                                     channels * int64_t{sizeof(float)}};
          copy_transposition(matrix, reinterpret_cast<const char*>(source),
                             reinterpret_cast<char*>(target + inside * channels), behind - inside, in_channels);
          continue;
        }
      }
      const int64_t step = counts_pairs ? 2 * channels : channels;
      for (int64_t c = 0; c < in_channels; ++c) {
        const E* const from = source + c * in_channel_stride;
        char* const to = reinterpret_cast<char*>(target + inside * channels) + c * int64_t{sizeof(E)};
        for (int64_t i = 0; i < behind - inside; ++i) {
          std::memcpy(to + i * step * int64_t{sizeof(E)}, from + i * x.in_stride, sizeof(E));
        }
      }
    }
    for (int64_t place = 0; place < places; ++place) {
      const int64_t kernel_y = is_merged ? place : place / x.kernel_size;
      const int64_t kernel_x = is_merged ? 0 : place % x.kernel_size;
      const float* const first = copied + kernel_y * y.dilation * row_size + kernel_x * x.dilation * channels;
      for (int64_t i = 0, row = 0; i < block.count; i += columns, ++row) {
        const int64_t count = std::min(columns, block.count - i);
        note(pixels + place * place_stride + i, count, first + row * y.stride * row_size, x.stride * channels);
      }
    }
  }

  /// Makes floats of the pixels of a row.
  void convert_row([[maybe_unused]] const E* from, [[maybe_unused]] float* to, [[maybe_unused]] int64_t count) const {
    if constexpr (!kIsFloat) {
      if (in_channel_stride == 1 && x.in_stride == channels && in_channels == channels) {
        load_row(from, to, count * channels);
        return;
      }
      constexpr int64_t kSome = 64;
      float some[kSome];
      for (int64_t i = 0; i < count; i += kSome) {
        const int64_t n = std::min(kSome, count - i);
        for (int64_t c = 0; c < in_channels; ++c) {
          const E* const elements = from + i * x.in_stride + c * in_channel_stride;
          if (x.in_stride == 1) {
            load_row(elements, some, n);
          } else {
            for (int64_t j = 0; j < n; ++j) {
              some[j] = load_element(elements + j * x.in_stride);
            }
          }
          for (int64_t j = 0; j < n; ++j) {
            to[(i + j) * channels + c] = some[j];
          }
        }
      }
    }
  }

  /// Makes floats of some rows of a panel's weights.
  void convert_weights([[maybe_unused]] const E* panel, [[maybe_unused]] int64_t rows,
                       [[maybe_unused]] float* to) const {
    constexpr int64_t kWidth = kFloatPanelColumns;
    if constexpr (std::is_same_v<E, BFloat16>) {
      if (has_pairs) {
        for (int64_t i = 0; i < rows; i += 2, panel += 2 * kWidth, to += 2 * kWidth) {
          vectorized_for(kWidth, [=](int64_t j) {
            uint32_t pair;
            std::memcpy(&pair, panel + 2 * j, sizeof(pair));
            to[j] = float_of(pair << 16);
            to[kWidth + j] = float_of(pair & 0xffff0000u);
          });
        }
        return;
      }
    }
    if constexpr (!kIsFloat) {
      load_row(panel, to, rows * kWidth);
    }
  }

  /// Sums of a row become results.
  void store([[maybe_unused]] float* sums, E* to, int64_t n) const {
    if constexpr (kIsFloat) {
      activation(to, n);
    } else {
      activation(sums, n);
      store_row(sums, to, n);
    }
  }

  /// Notes places that are `step` elements apart.
  static void note(const float** pixels, int64_t count, const float* first, int64_t step) {
    vectorized_for(count, [=](int64_t i) { pixels[i] = first + i * step; });
  }

  /// Finds what a block meets: pixels of the input, or zeros where there is none.
  void find_in_place(const Block& block, const float** pixels, const float* zeros) const {
    int64_t out_x = block.first % x.out_size;
    int64_t out_y = block.first / x.out_size % y.out_size;
    int64_t n = block.first / x.out_size / y.out_size;
    for (int64_t i = 0; i < block.count;) {
      const int64_t count = std::min(block.count - i, x.out_size - out_x);
      const float* const image = floats(in) + n * in_batch_stride;
      const float** all = pixels + i;
      for (int64_t kernel_y = 0; kernel_y < y.kernel_size; ++kernel_y) {
        const int64_t in_y = y.first_input(out_y) + kernel_y * y.dilation;
        const bool is_inside = in_y >= 0 && in_y < y.in_size;
        for (int64_t kernel_x = 0; kernel_x < x.kernel_size; ++kernel_x, all += place_stride) {
          const int64_t in_x = x.first_input(out_x) + kernel_x * x.dilation;
          // Of the pixels, those from `from` to `to` meet inputs.
          const int64_t from = in_x < 0 ? std::min((-in_x + x.stride - 1) / x.stride, count) : 0;
          const int64_t left = x.in_size - in_x;
          const int64_t to = std::clamp(left > 0 ? (left + x.stride - 1) / x.stride : 0, from, count);
          if (is_inside) {
            std::fill(all, all + from, zeros);
            note(all + from, to - from, image + in_y * y.in_stride + (in_x + from * x.stride) * x.in_stride,
                 x.stride * x.in_stride);
            std::fill(all + to, all + count, zeros);
          } else {
            std::fill(all, all + count, zeros);
          }
        }
      }
      i += count;
      out_x = 0;
      if (++out_y == y.out_size) {
        out_y = 0;
        ++n;
      }
    }
  }

  void compute_depthwise(const Block& block, int64_t from, int64_t to, const Scratch& scratch) const {
    Tile tile{};
    tile.place_stride = place_stride;
    tile.places = places;
    tile.depth = out_channels;
    tile.weight_stride = out_channels;
    tile.addend_stride = out_channels;
    tile.out_stride = out_channels;
    tile.minimum = minimum;
    tile.maximum = maximum;
    if constexpr (kIsFloat) {
      tile.weight = weight;
      tile.bias = bias != nullptr ? bias : scratch.zeros;
    } else {
      tile.weight = scratch.weights;
      tile.bias = scratch.weights + places * out_channels;
    }
    if constexpr (kIsFloat) {
      if (has_neighbors()) {
        compute_rows(block, from, to, scratch.pixels, tile);
        return;
      }
    }
    for (int64_t i = from; i < to; i += kDepthwisePixels) {
      const int64_t at = (block.first + i) * out_channels;
      tile.pixels = scratch.pixels + i;
      tile.pixel_count = std::min<int64_t>(kDepthwisePixels, to - i);
      if constexpr (kIsFloat) {
        tile.addend = addend != nullptr ? addend + at : nullptr;
        tile.out = out + at;
      } else {
        tile.out = scratch.sums;
        if (addend != nullptr) {
          // Sums that are computed twice have the same addends.
          float* const addends = scratch.sums + kDepthwisePixels * out_channels;
          load_row(addend + at, addends, tile.pixel_count * out_channels);
          tile.addend = addends;
        }
      }
      if (counts_pairs) {
        sum_depthwise<E>(tile);
      } else {
        sum_depthwise<float>(tile);
      }
      for (int64_t row = 0; row < tile.pixel_count; ++row) {
        store(tile.out + row * out_channels, out + at + row * out_channels, out_channels);
      }
    }
  }

  /// Whether pixels that are next to each other share inputs, and registers hold what they share.
  bool has_neighbors() const {
    const auto is_dense = [](const Axis& axis) { return axis.kernel_size == 3 && axis.dilation == 1; };
    return kVectorRegisters == 32 && is_dense(y) && is_dense(x) && y.stride == x.stride && x.stride <= 2 &&
           channels >= kFloats && x.out_size >= kDepthwisePixels;
  }

  /// Computes floats of a depthwise convolution with neighbors. `shape` is a tile's, but for its pixels.
  void compute_rows(const Block& block, int64_t from, int64_t to, const float* const* pixels, const Tile& shape) const {
    for (int64_t i = from; i < to;) {
      // Of the row that the pixel is in, those that are left.
      const int64_t row = (block.first + i) / x.out_size;
      const int64_t count = std::min((row + 1) * x.out_size - (block.first + i), to - i);
      if (count == x.out_size && to - i >= 2 * count && row % y.out_size + 1 < y.out_size) {
        compute_neighbors<2>(block, i, count, pixels, shape);
        i += count;
      } else if (count >= kDepthwisePixels) {
        compute_neighbors<1>(block, i, count, pixels, shape);
      } else {
        compute_few(block, i, count, pixels, shape);
      }
      i += count;
    }
  }

  /// Computes less pixels than a tile has, the last one again in place of the others.
  void compute_few(const Block& block, int64_t first, int64_t count, const float* const* pixels,
                   const Tile& shape) const {
    const float* met[9 * kDepthwisePixels];
    for (int64_t place = 0; place < places; ++place) {
      for (int64_t i = 0; i < kDepthwisePixels; ++i) {
        met[place * kDepthwisePixels + i] = pixels[place * place_stride + first + std::min(i, count - 1)];
      }
    }
    Tile tile = tile_at(block, first, pixels, shape);
    tile.pixels = met;
    tile.place_stride = kDepthwisePixels;
    tile.pixel_count = count;
    sum_depthwise<float>(tile);
    activate(tile, 0, channels);
  }

  /// Computes `count` pixels of a row, kDepthwisePixels at least, or of two rows that follow each other. In some
  /// channels at a time: what the next pixels share with these is in the first cache then.
  template <int kRows>
  void compute_neighbors(const Block& block, int64_t first, int64_t count, const float* const* pixels,
                         const Tile& shape) const {
    const int64_t step = even_size(channels, kDepthwiseChannels, kFloats);
    for (int64_t channel = 0; channel < channels; channel += step) {
      const int64_t end = std::min(channel + step, channels);
      for (int64_t i = 0; i < count; i += kDepthwisePixels) {
        // Some of the last pixels may be computed twice.
        const int64_t at = first + std::min(i, count - kDepthwisePixels);
        Tile tiles[kRows];
        for (int row = 0; row < kRows; ++row) {
          tiles[row] = tile_at(block, at + row * count, pixels, shape);
        }
        if (x.stride == 1) {
          sum_neighbors<kRows, 1>(tiles, count, channel, end);
        } else {
          sum_neighbors<kRows, 2>(tiles, count, channel, end);
        }
        for (const Tile& tile : tiles) {
          activate(tile, std::min(channel, end - kFloats), end);
        }
      }
    }
  }

  /// The tile of a block's pixels from `i` on.
  Tile tile_at(const Block& block, int64_t i, const float* const* pixels, const Tile& shape) const {
    const int64_t at = (block.first + i) * channels;
    Tile tile = shape;
    tile.pixels = pixels + i;
    tile.addend = addend != nullptr ? addend + at : nullptr;
    tile.out = out + at;
    tile.pixel_count = kDepthwisePixels;
    return tile;
  }

  void activate(const Tile& tile, int64_t channel, int64_t end) const {
    if (activation.apply != nullptr) {
      for (int64_t i = 0; i < tile.pixel_count; ++i) {
        activation(tile.out + i * channels + channel, end - channel);
      }
    }
  }

  void compute_strip(const Block& block, int64_t from, int64_t to, const Scratch& scratch, int64_t group,
                     int64_t strip) const {
    const int64_t k = places * depth;
    const int64_t of_group = out_channels / groups;
    const int64_t width = strip_width(filled_channels, strip);
    const int64_t stored = std::min(width, of_group - strip * kStripColumns);
    const int64_t channel = group * of_group + strip * kStripColumns;
    const int64_t panel_count = width / kFloatPanelColumns;
    const int64_t start_of_strip = strip_start(filled_channels, group, strip, k);
    const int64_t depth_step = depth > kDepth ? even_size(depth, kDepth, has_pairs ? 2 : 1) : depth;
    const int64_t place_step = std::max<int64_t>(kDepth / depth, 1);
    alignas(64) float biases[kStripColumns] = {};
    alignas(64) float no_biases[kStripColumns] = {};
    // Where the tiles write: results, or sums that become such.
    float* const sums = scratch.sums;
    E* const results = out + (block.first + from) * out_channels + channel;
    const float* addends = nullptr;
    if constexpr (kIsFloat) {
      addends = addend != nullptr ? addend + (results - out) : nullptr;
      if (bias != nullptr) {
        std::copy_n(bias + channel, stored, biases);
      }
    } else {
      if (bias != nullptr) {
        load_row(bias + channel, biases, stored);
      }
      if (addend != nullptr) {
        addends = sums;
        for (int64_t i = 0; i < to - from; ++i) {
          load_row(addend + (results - out) + i * out_channels, sums + i * kStripColumns, stored);
          std::fill_n(sums + i * kStripColumns + stored, width - stored, 0.0f);
        }
      }
    }
    for (int64_t place = 0; place < places; place += place_step) {
      for (int64_t first = 0; first < depth; first += depth_step) {
        Tile tile{};
        tile.place_stride = place_stride;
        tile.places = std::min(place_step, places - place);
        tile.depth = std::min(depth_step, depth - first);
        tile.first = group * depth + first;
        tile.out_stride = kIsFloat ? out_channels : kStripColumns;
        tile.addend_stride = tile.out_stride;
        const int64_t rows = tile.places * tile.depth;
        const bool is_first = place == 0 && first == 0;
        const bool is_last = place + tile.places == places && first + tile.depth == depth;
        const int64_t start = start_of_strip + (place * depth + first) * kFloatPanelColumns;
        const float* slice = scratch.weights;
        const float* next_slice = slice;
        if (converts()) {
          tile.panel_stride = rows * kFloatPanelColumns;
          for (int64_t panel = 0; panel < panel_count; ++panel) {
            convert_weights(weight + start + panel * k * kFloatPanelColumns, rows,
                            scratch.weights + panel * tile.panel_stride);
          }
        } else {
          slice = floats(weight) + start;
          tile.panel_stride = k * kFloatPanelColumns;
          // The weights behind these, or those of the next strip, are those that the next tiles read. Each tile of
          // these brings a part of one of their panels.
          next_slice = is_last ? floats(weight) + start_of_strip + width * k : slice + rows * kFloatPanelColumns;
          const int64_t of_panel = divide_up(to - from, kTilePixels * panel_count);
          tile.next_stride = divide_up(kFloatPanelColumns, std::max<int64_t>(of_panel, 1));
        }
        tile.bias = is_first ? biases : no_biases;
        tile.minimum = is_last ? minimum : -std::numeric_limits<float>::infinity();
        tile.maximum = is_last ? maximum : std::numeric_limits<float>::infinity();
        for (int64_t i = from, count = 0; i < to; i += kTilePixels, ++count) {
          tile.pixel_count = std::min<int64_t>(kTilePixels, to - i);
          tile.pixels = scratch.pixels + place * place_stride + i;
          if constexpr (kIsFloat) {
            tile.out = results + (i - from) * tile.out_stride;
          } else {
            tile.out = sums + (i - from) * tile.out_stride;
          }
          tile.addend = !is_first ? tile.out : addends != nullptr ? addends + (i - from) * tile.out_stride : nullptr;
          tile.weight = slice;
          tile.next_weight =
              next_slice + count % panel_count * tile.panel_stride + count / panel_count * rows * tile.next_stride;
          for (int64_t j = 0; j < width; j += kTileChannels) {
            const int64_t channels_left = std::min(stored - j, kTileChannels);
            if (channels_left <= 0) {
              break;
            }
            const int64_t vectors_left = (width - j) / kFloats;
            const bool is_narrow = !counts_pairs && channels_left <= kNarrowChannels;
            const SumTile sum = is_narrow      ? narrow_tile_of(tile.pixel_count)
                                : counts_pairs ? tile_of<kMultipliesPairs<E>>(tile.pixel_count, vectors_left)
                                               : tile_of<false>(tile.pixel_count, vectors_left);
            const bool is_whole = is_narrow      ? channels_left == kNarrowChannels
                                  : kSpansPanels ? channels_left % kFloats == 0
                                                 : channels_left == kTileChannels;
            if (!kIsFloat || is_whole) {
              sum(tile);
            } else {
              sum_part(sum, tile, channels_left);
            }
            tile.out += kTileChannels;
            tile.addend += tile.addend != nullptr ? kTileChannels : 0;
            tile.bias += kTileChannels;
            tile.weight += kTileChannels / kFloatPanelColumns * tile.panel_stride;
          }
          tile.bias = is_first ? biases : no_biases;
        }
      }
    }
    if (!kIsFloat || activation.apply != nullptr) {
      for (int64_t i = 0; i < to - from; ++i) {
        store(sums + i * kStripColumns, results + i * out_channels, stored);
      }
    }
  }

  /// A tile of which only the first channels are the result's.
  static void sum_part(SumTile sum, const Tile& tile, int64_t n) {
    alignas(64) float addends[kTilePixels * kTileChannels];
    alignas(64) float sums[kTilePixels * kTileChannels];
    Tile part = tile;
    part.out = sums;
    part.out_stride = kTileChannels;
    if (tile.addend != nullptr) {
      for (int64_t i = 0; i < tile.pixel_count; ++i) {
        std::copy_n(tile.addend + i * tile.addend_stride, n, addends + i * kTileChannels);
        std::fill_n(addends + i * kTileChannels + n, kTileChannels - n, 0.0f);
      }
      part.addend = addends;
      part.addend_stride = kTileChannels;
    }
    sum(part);
    for (int64_t i = 0; i < tile.pixel_count; ++i) {
      std::copy_n(sums + i * kTileChannels, n, tile.out + i * tile.out_stride);
    }
  }
};

/// Reads a spatial dimension; false where it has no outputs, or is none.
bool read_axis(const Tensor& in, ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
               ArrayRef<int64_t> end_padding, ArrayRef<int64_t> dilation, int64_t d, Axis& axis) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  axis = {in.size(d + 2), kernel_size[d], 0, stride[d], dilation[d], padding[d], 0};
  for (const int64_t number : {axis.kernel_size, axis.stride, axis.dilation}) {
    ET_CHECK_OR_RETURN_FALSE(number > 0 && number <= kMost, "sizes, strides and dilations of a kernel are positive");
  }
  for (const int64_t width : {padding[d], end_padding[d]}) {
    ET_CHECK_OR_RETURN_FALSE(width >= 0 && width <= kMost, "padding is not negative");
  }
  const int64_t left = axis.in_size + padding[d] + end_padding[d] - axis.dilation * (axis.kernel_size - 1) - 1;
  ET_CHECK_OR_RETURN_FALSE(left >= 0, "kernel is larger than the padded input");
  ET_CHECK_OR_RETURN_FALSE(left < kMost, "the padded input is too large");
  axis.out_size = left / axis.stride + 1;
  return true;
}

bool read_shape(const Tensor& in, const Tensor& weight, ArrayRef<int64_t> kernel_size, int64_t out_channels,
                ArrayRef<int64_t> stride, ArrayRef<int64_t> padding, ArrayRef<int64_t> end_padding,
                ArrayRef<int64_t> dilation, int64_t groups, ConvolutionShape& convolution) {
  ET_CHECK_OR_RETURN_FALSE(in.dim() == 4 && in.size(1) > 0, "input is no batch of images");
  for (const ArrayRef<int64_t>& list : {kernel_size, stride, padding, end_padding, dilation}) {
    ET_CHECK_OR_RETURN_FALSE(list.size() == 2, "lists have a number for each of two dimensions");
  }
  convolution.batch = in.size(0);
  convolution.in_channels = in.size(1);
  convolution.out_channels = out_channels;
  convolution.groups = groups;
  convolution.is_depthwise = groups > 1 && groups == in.size(1) && groups == out_channels;
  ET_CHECK_OR_RETURN_FALSE(groups > 0 && in.size(1) % groups == 0 && out_channels > 0 && out_channels % groups == 0,
                           "%d groups do not divide channels", int(groups));
  ET_LOG_AND_RETURN_IF_FALSE(read_axis(in, kernel_size, stride, padding, end_padding, dilation, 0, convolution.y) &&
                             read_axis(in, kernel_size, stride, padding, end_padding, dilation, 1, convolution.x));
  // So that no size below overflows.
  constexpr double kMostElements = double(int64_t{1} << 48);
  const auto padded = [&](int64_t d) { return double(in.size(d + 2) + padding[d] + end_padding[d]); };
  ET_CHECK_OR_RETURN_FALSE(padded(0) * padded(1) * double(in.size(1)) < kMostElements, "the padded input is too large");
  const int64_t packed = packed_channels(in.scalar_type(), in.size(1), groups);
  convolution.channels = packed * groups;
  const int64_t positions = kernel_size[0] * kernel_size[1];
  const int64_t of_group = out_channels / groups;
  const bool has_pairs = in.scalar_type() == ScalarType::BFloat16 && packed % 2 == 0;
  const bool is_packed =
      convolution.is_depthwise
          ? weight.dim() == 2 && weight.size(0) == positions && weight.size(1) == groups &&
                ::executorch::runtime::is_contiguous_dim_order(weight.dim_order().data(), 2)
          : has_panels(weight, 1, of_group, positions * packed, has_pairs) && weight.size(0) == groups;
  ET_CHECK_OR_RETURN_FALSE(is_packed,
                           "weights are not packed for this convolution: the program was exported by another version "
                           "of rules_executorch; export the program again");
  return true;
}

}  // namespace

Tensor& packed_convolution_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                               const std::optional<Tensor>& bias, const std::optional<Tensor>& addend,
                               ArrayRef<int64_t> kernel_size, int64_t out_channels, ArrayRef<int64_t> stride,
                               ArrayRef<int64_t> padding, ArrayRef<int64_t> end_padding, ArrayRef<int64_t> dilation,
                               int64_t groups, std::string_view activation, double minimum, double maximum,
                               Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "packed_convolution.out");

  // Check
  ConvolutionShape convolution{};
  const ScalarType type = in.scalar_type();
  ET_KERNEL_CHECK(ctx, isFloatingType(type) && type != ScalarType::Double, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, weight, out), InvalidArgument, out);
  ET_KERNEL_CHECK(
      ctx,
      read_shape(in, weight, kernel_size, out_channels, stride, padding, end_padding, dilation, groups, convolution),
      InvalidArgument, out);
  ET_KERNEL_CHECK(
      ctx,
      !bias.has_value() || (tensors_have_same_dtype(*bias, out) && bias->dim() == 1 && bias->size(0) == out_channels),
      InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, find_activation<float>(activation, minimum, maximum, convolution.activation), InvalidArgument,
                  out);

  // Resize
  const Tensor::SizesType sizes[] = {
      static_cast<Tensor::SizesType>(in.size(0)), static_cast<Tensor::SizesType>(out_channels),
      static_cast<Tensor::SizesType>(convolution.y.out_size), static_cast<Tensor::SizesType>(convolution.x.out_size)};
  ET_KERNEL_CHECK(ctx, resize_to(out, {sizes, 4}), InvalidArgument, out);
  ET_KERNEL_CHECK_MSG(ctx, is_channels_last(out), InvalidArgument, out, "the result is not channels-last");
  ET_KERNEL_CHECK_MSG(ctx,
                      !addend.has_value() || (tensors_have_same_dtype(*addend, out) &&
                                              tensors_have_same_shape(*addend, out) && is_channels_last(*addend)),
                      InvalidArgument, out, "the addend is not like the result");
  if (out.numel() == 0) {
    return out;
  }

  // Compute
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool is_clamp = activation == "clamp";
  convolution.minimum = static_cast<float>(is_clamp ? minimum : -kInfinity);
  convolution.maximum = static_cast<float>(is_clamp ? maximum : kInfinity);
  if (is_clamp) {
    // Tiles do that themselves.
    convolution.activation.apply = nullptr;
  }
  const ConstStridedView source(in);
  const bool is_last = is_channels_last(in);
  convolution.in_batch_stride = source.strides[0];
  convolution.in_channel_stride = is_last ? 1 : source.strides[1];
  convolution.y.in_stride = is_last ? in.size(3) * in.size(1) : source.strides[2];
  convolution.x.in_stride = is_last ? in.size(1) : source.strides[3];
  bool has_memory = false;
  ET_SWITCH_THREE_TYPES(Float, Half, BFloat16, type, ctx, op_name, CTYPE, [&] {
    PackedConvolution<CTYPE> typed{};
    static_cast<ConvolutionShape&>(typed) = convolution;
    typed.in = static_cast<const CTYPE*>(in.const_data_ptr());
    typed.weight = static_cast<const CTYPE*>(weight.const_data_ptr());
    typed.bias = bias.has_value() ? static_cast<const CTYPE*>(bias->const_data_ptr()) : nullptr;
    typed.addend = addend.has_value() ? static_cast<const CTYPE*>(addend->const_data_ptr()) : nullptr;
    typed.out = static_cast<CTYPE*>(out.mutable_data_ptr());
    typed.plan();
    const auto memory = ctx.allocate_temp(typed.parts() * typed.scratch_size(), /*alignment=*/64);
    has_memory = memory.ok();
    if (has_memory) {
      typed.compute(static_cast<char*>(*memory));
    }
  });
  ET_KERNEL_CHECK_MSG(ctx, has_memory, MemoryAllocationFailed, out, "no memory for a convolution");
  return out;
}

}  // namespace torch::executor::native
