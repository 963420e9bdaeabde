#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "kernels/common/activation.h"
#include "kernels/common/grain.h"
#include "kernels/common/matmul.h"
#include "kernels/common/parallel_for.h"
#include "kernels/common/resize.h"
#include "kernels/common/strided_view.h"
#include "kernels/common/vector_width.h"
#include "kernels/common/vectorize.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

namespace vectors = ::rules_executorch::kernels::internal;
using Floats = vectors::Vector<float>;
constexpr int64_t kFloats = vectors::kLanes<float>;

/// Output channels of a panel of weights, and what the count of a group's is filled up to a multiple of: as
/// export/graph_passes/packed_convolution_operator.py packs them.
constexpr int64_t kPanelChannels = 48;
constexpr int64_t kChannelStep = 16;
/// Input channels up to which the input is copied: the elements of a row of the kernel are neighbors then.
constexpr int64_t kFewChannels = 8;
/// A tile of sums in registers: vectors of output channels, and pixels.
constexpr int kTileVectors = kVectorBytes == 64 ? 3 : 4 * 16 / kVectorBytes;
constexpr int kTilePixels = kVectorRegisters * 3 / 4 / kTileVectors;
constexpr int64_t kTileChannels = kTileVectors * kFloats;
static_assert(kPanelChannels % kTileChannels == 0 && (kTileChannels == kChannelStep || kTileVectors == 3));
/// Pixels of a tile of a depthwise convolution.
constexpr int kDepthwisePixels = 4;
/// Places of inputs that are found at a time, for all pixels of a block; pixels at most.
constexpr int64_t kPlaces = 4096;
constexpr int64_t kBlockPixels = 512;
/// Inputs that are summed up before a tile is written: their weights in a panel stay in the first cache.
constexpr int64_t kDepth = 256;
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

/// What becomes of sums on their way to the result: biases and addends are added, bounds are kept.
struct Tile {
  const float* const* pixels;  // for each place of the inputs, those of all pixels of the block
  int64_t place_stride;
  int64_t places;
  int64_t depth;        // inputs that are neighbors at each place
  int64_t first;        // of them
  const float* weight;  // a row for each input
  int64_t weight_stride;
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

inline Floats clamp(Floats sums, float minimum, float maximum) {
  // NaN is neither less nor greater, and stays.
#if defined(__GNUC__)
  const Floats low = Floats{} + minimum;
  const Floats high = Floats{} + maximum;
  sums = sums < low ? low : sums;
  return sums > high ? high : sums;
#else
  for (float& sum : sums.lanes) {
    sum = sum < minimum ? minimum : sum > maximum ? maximum : sum;
  }
  return sums;
#endif
}

/// Writes the sums of a tile; I goes through its pixels and their vectors in row-major order. Inlined, so that the sums
/// are in registers before, too.
template <int kVectors, int... I>
KERNELS_ALWAYS_INLINE inline void finish(const Tile& tile, int64_t channel, Floats* sums,
                                         std::integer_sequence<int, I...>) {
  const int64_t last = tile.pixel_count - 1;
  const Floats biases[] = {vectors::load_vector(tile.bias + channel + I % kVectors * kFloats)...};
  ((sums[I] += biases[I]), ...);
  if (tile.addend != nullptr) {
    const float* const rows[] = {tile.addend + std::min<int64_t>(I / kVectors, last) * tile.addend_stride + channel...};
    ((sums[I] += vectors::load_vector(rows[I] + I % kVectors * kFloats)), ...);
  }
  float* const rows[] = {tile.out + std::min<int64_t>(I / kVectors, last) * tile.out_stride + channel...};
  const float minimum = tile.minimum;
  const float maximum = tile.maximum;
  (vectors::store_vector(rows[I] + I % kVectors * kFloats, clamp(sums[I], minimum, maximum)), ...);
}

/// Brings a line of memory into the second cache, if there is one.
inline void fetch([[maybe_unused]] const float* from) {
#if defined(__GNUC__)
  __builtin_prefetch(from, /*rw=*/0, /*locality=*/2);
#endif
}

template <int kVectors, int... I>
inline void sum_pixels(const Tile& tile, std::integer_sequence<int, I...> all) {
  Floats sums[] = {((void)I, Floats{})...};
  const float* weight = tile.weight;
  const float* next = tile.next_weight;
  for (int64_t place = 0; place < tile.places; ++place) {
    const float* const* const pixels = tile.pixels + place * tile.place_stride;
    const float* const in[] = {pixels[I / kVectors] + tile.first...};
    for (int64_t p = 0; p < tile.depth; ++p, weight += tile.weight_stride, next += tile.next_stride) {
      fetch(next);
      const Floats row[] = {vectors::load_vector(weight + I % kVectors * kFloats)...};
      ((sums[I] += in[I][p] * row[I]), ...);
    }
  }
  finish<kVectors>(tile, 0, sums, all);
}

template <int kPixels, int kVectors>
void sum_tile(const Tile& tile) {
  sum_pixels<kVectors>(tile, std::make_integer_sequence<int, kPixels * kVectors>());
}

using SumTile = void (*)(const Tile& tile);

/// The function for tiles of `pixels` pixels at least.
template <int kVectors>
SumTile tile_of_pixels(int64_t pixels) {
  constexpr int kHalf = (kTilePixels + 1) / 2;
  return pixels > kHalf ? &sum_tile<kTilePixels, kVectors>
         : pixels > 1   ? &sum_tile<kHalf, kVectors>
                        : &sum_tile<1, kVectors>;
}

/// The same for a panel of `vectors` vectors at least.
template <int kVectors = kTileVectors>
SumTile tile_of(int64_t pixels, int64_t vectors) {
  // Only the last panel of 512-bit vectors is narrower than a tile.
  if constexpr (kTileVectors == 3 && kVectors > 1) {
    if (vectors < kVectors) {
      return tile_of<kVectors - 1>(pixels, vectors);
    }
  }
  return tile_of_pixels<kVectors>(pixels);
}

/// The sums of a depthwise convolution in some channels from `channel` on.
template <int kVectors, int... I>
inline void sum_channels(const Tile& tile, int64_t channel, std::integer_sequence<int, I...> all) {
  Floats sums[] = {((void)I, Floats{})...};
  for (int64_t place = 0; place < tile.places; ++place) {
    const float* const* const pixels = tile.pixels + place * tile.place_stride;
    const float* const weight = tile.weight + place * tile.weight_stride + channel;
    const Floats row[] = {vectors::load_vector(weight + I % kVectors * kFloats)...};
    ((sums[I] += vectors::load_vector(pixels[I / kVectors] + channel + I % kVectors * kFloats) * row[I]), ...);
  }
  finish<kVectors>(tile, channel, sums, all);
}

void sum_depthwise(const Tile& tile) {
  constexpr auto kTwo = std::make_integer_sequence<int, 2 * kDepthwisePixels>();
  constexpr auto kOne = std::make_integer_sequence<int, kDepthwisePixels>();
  const int64_t n = tile.depth;
  int64_t channel = 0;
  for (; channel + 2 * kFloats <= n; channel += 2 * kFloats) {
    sum_channels<2>(tile, channel, kTwo);
  }
  for (; channel < n && n >= kFloats; channel += kFloats) {
    // Some of the last channels may be computed twice.
    sum_channels<1>(tile, std::min(channel, n - kFloats), kOne);
  }
  for (; channel < n; ++channel) {
    for (int64_t i = 0; i < tile.pixel_count; ++i) {
      float sum = tile.bias[channel] + (tile.addend != nullptr ? tile.addend[i * tile.addend_stride + channel] : 0);
      for (int64_t place = 0; place < tile.places; ++place) {
        sum += tile.pixels[place * tile.place_stride + i][channel] * tile.weight[place * tile.weight_stride + channel];
      }
      const float raised = sum < tile.minimum ? tile.minimum : sum;
      tile.out[i * tile.out_stride + channel] = raised > tile.maximum ? tile.maximum : raised;
    }
  }
}

/// A convolution of channels-last tensors. Strides are in elements.
struct PackedConvolution {
  const float* in;
  const float* weight;
  const float* bias;    // null for none
  const float* addend;  // null for none
  float* out;
  int64_t batch;
  int64_t channels;
  int64_t out_channels;
  int64_t groups;
  Axis y;
  Axis x;
  int64_t in_batch_stride;
  int64_t in_channel_stride;
  Activation activation;
  float minimum;
  float maximum;

  /// Whether each output channel is made of an input channel of its own: weights have a row for each position then.
  bool is_depthwise() const { return groups > 1 && groups == channels && groups == out_channels; }

  /// Reads in which order the input lies, and how the work is divided.
  void plan() {
    const bool is_last = in_channel_stride == 1 && x.in_stride == channels;
    is_copied = !is_last || (groups == 1 && channels <= kFewChannels);
    // Pixels of a row of the kernel are one place in a copy where they are neighbors.
    is_merged = is_copied && groups == 1 && x.dilation == 1;
    places = y.kernel_size * (is_merged ? 1 : x.kernel_size);
    depth = channels / groups * (is_merged ? x.kernel_size : 1);
    const int64_t most = std::max<int64_t>(std::min(kBlockPixels, kPlaces / places) / 8 * 8, 8);
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
    filled_channels = (out_channels / groups + kChannelStep - 1) / kChannelStep * kChannelStep;
    panels = is_depthwise() ? 1 : divide_up(filled_channels, kPanelChannels);
    tiles = divide_up(block_pixels, tile_pixels());
  }

  /// Bytes of memory for a part of the work.
  int64_t scratch_size() const { return (place_stride * places * 8 + (copy_size + channels) * 4 + 63) / 64 * 64; }

  int64_t parts() const {
    const int64_t products = batch * y.out_size * x.out_size * out_channels * places * depth;
    const int64_t cost = products * (is_depthwise() ? kDepthwiseCost : 1);
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
  int64_t place_stride;
  int64_t filled_channels;
  int64_t panels;  // of a group
  int64_t tiles;   // of a block

 private:
  /// A place in the work, in its order: of each block, each panel of each group, of each panel, the tiles.
  struct Place {
    int64_t block;
    int64_t panel;  // counted through the groups
    int64_t tile;
  };

  /// Pixels that are computed together: from `first` on, counted through the batch.
  struct Block {
    int64_t first;
    int64_t count;
  };

  static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

  /// The size of as few parts of `all` as there may be, each of `most` at most: about the same for all of them.
  static int64_t even_size(int64_t all, int64_t most, int64_t step) {
    return divide_up(divide_up(all, divide_up(all, most)), step) * step;
  }

  int64_t groups_of_panels() const { return is_depthwise() ? 1 : groups; }

  int64_t tile_pixels() const { return is_depthwise() ? kDepthwisePixels : kTilePixels; }

  /// Units are what takes the same time: a tile for some channels.
  int64_t group_units() const { return tiles * (is_depthwise() ? 1 : filled_channels / kChannelStep); }
  int64_t block_units() const { return groups_of_panels() * group_units(); }

  Place place_at(int64_t unit) const {
    Place place{unit / block_units(), unit % block_units() / group_units() * panels, 0};
    unit %= group_units();
    const int64_t panel_units = tiles * (is_depthwise() ? 1 : kPanelChannels / kChannelStep);
    const int64_t panel = unit / panel_units;
    place.panel += panel;
    place.tile = unit % panel_units / (is_depthwise() ? 1 : panel_width(panel) / kChannelStep);
    return place;
  }

  /// Channels of a panel, with those that it is filled up with.
  int64_t panel_width(int64_t panel) const {
    return std::min(kPanelChannels, filled_channels - panel * kPanelChannels);
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

  void compute_part(const Place& first, const Place& last, char* scratch) const {
    const float** const pixels = reinterpret_cast<const float**>(scratch);
    float* const zeros = reinterpret_cast<float*>(pixels + place_stride * places);
    float* const copied = zeros + channels;
    std::fill_n(zeros, channels, 0.0f);
    const int64_t of_block = groups_of_panels() * panels;
    for (int64_t index = first.block; index <= last.block && index < blocks; ++index) {
      const Place begin = index == first.block ? first : Place{index, 0, 0};
      const Place end = index == last.block ? last : Place{index, of_block, 0};
      Block block = block_at(index);
      // The pixels from the first panel's first tile to the last panel's last one.
      int64_t from = begin.tile * tile_pixels();
      int64_t to = end.tile > 0 ? std::min(end.tile * tile_pixels(), block.count) : block.count;
      const int64_t end_panel = end.panel + (end.tile > 0 ? 1 : 0);
      if (begin.panel >= end_panel) {
        continue;
      }
      const bool is_one = begin.panel + 1 == end_panel;
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
      if (is_depthwise()) {
        compute_depthwise(block, from, to, pixels, zeros);
        continue;
      }
      for (int64_t panel = begin.panel; panel < end_panel; ++panel) {
        compute_panel(block, panel == begin.panel ? from : 0, panel + 1 == end_panel ? to : block.count, pixels,
                      panel / panels, panel % panels);
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
      const float* const source = in + n * in_batch_stride + in_y * y.in_stride;
      for (int64_t c = 0; c < channels; ++c) {
        const float* const from = source + c * in_channel_stride + (from_x + inside) * x.in_stride;
        float* const to = target + inside * channels + c;
        for (int64_t i = 0; i < behind - inside; ++i) {
          to[i * channels] = from[i * x.in_stride];
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
      const float* const image = in + n * in_batch_stride;
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

  void compute_depthwise(const Block& block, int64_t from, int64_t to, const float* const* pixels,
                         const float* zeros) const {
    for (int64_t i = from; i < to; i += kDepthwisePixels) {
      const int64_t at = (block.first + i) * channels;
      Tile tile{pixels + i,
                place_stride,
                places,
                channels,
                0,
                weight,
                channels,
                nullptr,
                0,
                bias != nullptr ? bias : zeros,
                addend != nullptr ? addend + at : nullptr,
                channels,
                out + at,
                channels,
                std::min<int64_t>(kDepthwisePixels, to - i),
                minimum,
                maximum};
      sum_depthwise(tile);
      for (int64_t row = 0; row < tile.pixel_count; ++row) {
        activation(tile.out + row * channels, channels);
      }
    }
  }

  void compute_panel(const Block& block, int64_t from, int64_t to, const float* const* pixels, int64_t group,
                     int64_t panel) const {
    const int64_t k = places * depth;
    const int64_t of_group = out_channels / groups;
    const int64_t width = panel_width(panel);
    const int64_t stored = std::min(width, of_group - panel * kPanelChannels);
    const int64_t channel = group * of_group + panel * kPanelChannels;
    const float* const panel_weight = weight + (group * filled_channels + panel * kPanelChannels) * k;
    const int64_t depth_step =
        depth > kDepth ? (depth + (depth + kDepth - 1) / kDepth - 1) / ((depth + kDepth - 1) / kDepth) : depth;
    const int64_t place_step = std::max<int64_t>(kDepth / depth, 1);
    alignas(64) float biases[kPanelChannels] = {};
    alignas(64) float no_biases[kPanelChannels] = {};
    if (bias != nullptr) {
      std::copy_n(bias + channel, stored, biases);
    }
    for (int64_t place = 0; place < places; place += place_step) {
      for (int64_t first = 0; first < depth; first += depth_step) {
        Tile tile{};
        tile.place_stride = place_stride;
        tile.places = std::min(place_step, places - place);
        tile.depth = std::min(depth_step, depth - first);
        tile.first = group * depth + first;
        tile.weight_stride = width;
        tile.out_stride = out_channels;
        tile.addend_stride = out_channels;
        // The weights behind these are those that the next tiles read. Each tile of these brings a part of them.
        const float* next_weight = panel_weight + (place * depth + first + tile.places * tile.depth) * width;
        tile.next_stride = divide_up(width, std::max<int64_t>(divide_up(to - from, kTilePixels), 1));
        const bool is_first = place == 0 && first == 0;
        const bool is_last = place + tile.places == places && first + tile.depth == depth;
        tile.bias = is_first ? biases : no_biases;
        tile.minimum = is_last ? minimum : -std::numeric_limits<float>::infinity();
        tile.maximum = is_last ? maximum : std::numeric_limits<float>::infinity();
        for (int64_t i = from; i < to; i += kTilePixels) {
          tile.pixel_count = std::min<int64_t>(kTilePixels, to - i);
          tile.pixels = pixels + place * place_stride + i;
          tile.out = out + (block.first + i) * out_channels + channel;
          tile.addend = !is_first ? tile.out : addend != nullptr ? addend + (tile.out - out) : nullptr;
          tile.weight = panel_weight + (place * depth + first) * width;
          tile.next_weight = next_weight;
          next_weight += tile.places * tile.depth * tile.next_stride;
          for (int64_t j = 0; j < width; j += kTileChannels) {
            const int64_t channels_left = std::min(stored - j, kTileChannels);
            if (channels_left <= 0) {
              break;
            }
            const SumTile sum = tile_of(tile.pixel_count, (width - j) / kFloats);
            if (channels_left % kFloats == 0 && (kTileVectors == 3 || channels_left == kTileChannels)) {
              sum(tile);
            } else {
              sum_part(sum, tile, channels_left);
            }
            tile.out += kTileChannels;
            tile.addend += tile.addend != nullptr ? kTileChannels : 0;
            tile.bias += kTileChannels;
            tile.weight += kTileChannels;
          }
          tile.bias = is_first ? biases : no_biases;
        }
      }
    }
    if (activation.apply != nullptr) {
      for (int64_t i = from; i < to; ++i) {
        activation(out + (block.first + i) * out_channels + channel, stored);
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
                ArrayRef<int64_t> dilation, int64_t groups, PackedConvolution& convolution) {
  ET_CHECK_OR_RETURN_FALSE(in.dim() == 4 && in.size(1) > 0, "input is no batch of images");
  for (const ArrayRef<int64_t>& list : {kernel_size, stride, padding, end_padding, dilation}) {
    ET_CHECK_OR_RETURN_FALSE(list.size() == 2, "lists have a number for each of two dimensions");
  }
  convolution.batch = in.size(0);
  convolution.channels = in.size(1);
  convolution.out_channels = out_channels;
  convolution.groups = groups;
  ET_CHECK_OR_RETURN_FALSE(groups > 0 && in.size(1) % groups == 0 && out_channels > 0 && out_channels % groups == 0,
                           "%d groups do not divide channels", int(groups));
  ET_LOG_AND_RETURN_IF_FALSE(read_axis(in, kernel_size, stride, padding, end_padding, dilation, 0, convolution.y) &&
                             read_axis(in, kernel_size, stride, padding, end_padding, dilation, 1, convolution.x));
  // So that no size below overflows.
  constexpr double kMostElements = double(int64_t{1} << 48);
  const auto padded = [&](int64_t d) { return double(in.size(d + 2) + padding[d] + end_padding[d]); };
  ET_CHECK_OR_RETURN_FALSE(padded(0) * padded(1) * double(in.size(1)) < kMostElements, "the padded input is too large");
  const int64_t positions = kernel_size[0] * kernel_size[1];
  const int64_t of_group = out_channels / groups;
  const bool has_shape = convolution.is_depthwise()
                             ? weight.dim() == 2 && weight.size(0) == positions && weight.size(1) == groups
                             : weight.dim() == 3 && weight.size(0) == groups &&
                                   weight.size(1) == (of_group + kChannelStep - 1) / kChannelStep * kChannelStep &&
                                   weight.size(2) == positions * (in.size(1) / groups);
  ET_CHECK_OR_RETURN_FALSE(
      has_shape && ::executorch::runtime::is_contiguous_dim_order(weight.dim_order().data(), weight.dim()),
      "weights are not packed for this convolution: the program was exported by another version of "
      "rules_executorch; export the program again");
  return true;
}

/// Whether the channels of a pixel are neighbors, and so are pixels and rows.
bool is_channels_last(const Tensor& tensor) {
  const ConstStridedView view(tensor);
  int64_t stride = 1;
  for (const int d : {1, 3, 2, 0}) {
    if (tensor.size(d) != 1 && view.strides[d] != stride) {
      return false;
    }
    stride *= tensor.size(d);
  }
  return true;
}

}  // namespace

Tensor& packed_convolution_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                               const std::optional<Tensor>& bias, const std::optional<Tensor>& addend,
                               ArrayRef<int64_t> kernel_size, int64_t out_channels, ArrayRef<int64_t> stride,
                               ArrayRef<int64_t> padding, ArrayRef<int64_t> end_padding, ArrayRef<int64_t> dilation,
                               int64_t groups, std::string_view activation, double minimum, double maximum,
                               Tensor& out) {
  // Check
  PackedConvolution convolution{};
  ET_KERNEL_CHECK(ctx, in.scalar_type() == ScalarType::Float, InvalidArgument, out);
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
  convolution.in = static_cast<const float*>(in.const_data_ptr());
  convolution.weight = static_cast<const float*>(weight.const_data_ptr());
  convolution.bias = bias.has_value() ? static_cast<const float*>(bias->const_data_ptr()) : nullptr;
  convolution.addend = addend.has_value() ? static_cast<const float*>(addend->const_data_ptr()) : nullptr;
  convolution.out = static_cast<float*>(out.mutable_data_ptr());
  const bool is_last = is_channels_last(in);
  convolution.in_batch_stride = source.strides[0];
  convolution.in_channel_stride = is_last ? 1 : source.strides[1];
  convolution.y.in_stride = is_last ? in.size(3) * in.size(1) : source.strides[2];
  convolution.x.in_stride = is_last ? in.size(1) : source.strides[3];
  convolution.plan();
  const auto memory = ctx.allocate_temp(convolution.parts() * convolution.scratch_size(), /*alignment=*/64);
  ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, out, "no memory for a convolution");
  convolution.compute(static_cast<char*>(*memory));
  return out;
}

}  // namespace torch::executor::native
