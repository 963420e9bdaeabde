#include "kernels/convolution/packed/plan.h"

#include <algorithm>

#include "kernels/convolution/packed/depthwise_tile.h"
#include "kernels/convolution/packed/float_tile.h"
#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/layouts.h"
#include "kernels/gemm/reduced_rows.h"
#include "kernels/math/divide_up.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"

namespace rules_executorch::kernels::packed {
namespace {

/// The largest number of entries of the indirection buffer of a block, and the largest number of pixels of a block.
constexpr int64_t kTaps = 4096;
constexpr int64_t kBlockPixels = 512;
/// The number of inputs of a block that are converted to floats. They stay in the L2 cache.
constexpr int64_t kConverted = 65536;
/// The lowest number of multiplications for a thread, and the relative cost of a multiplication of a depthwise
/// convolution.
constexpr int64_t kPartProducts = 8 * kGrain;
constexpr int64_t kDepthwiseCost = 4;

/// Whether vector loads convert elements to floats as fast as these are multiplied.
#if defined(KERNELS_LOADS_HALF)
constexpr bool kLoadsHalf = true;
#else
constexpr bool kLoadsHalf = false;
#endif

/// Decides which memory the indirection buffer points to, and what a word is.
void choose_input(Plan& plan) {
  const Geometry& geometry = plan.geometry;
  const int64_t of_group = geometry.channels / geometry.groups;
  const bool is_float = geometry.type == ScalarType::Float;
  const bool loads_floats = kLoadsHalf || geometry.type != ScalarType::Half;
  plan.has_pairs = geometry.type == ScalarType::BFloat16 && !geometry.is_depthwise && of_group % 2 == 0;
  const bool is_last = geometry.is_channels_last();
  plan.counts_pairs = geometry.is_depthwise ? !is_float && loads_floats && is_last && geometry.channels % 2 == 0
                                            : kMultipliesPairs<BFloat16> && plan.has_pairs;
  plan.channels = plan.counts_pairs ? geometry.channels / 2 : geometry.channels;
  const bool has_few = geometry.groups == 1 && geometry.channels <= kCopiedImageMostChannels;
  plan.input = !is_float && !plan.counts_pairs ? InputMode::kConverted
               : !is_last || has_few           ? InputMode::kCopied
                                               : InputMode::kInPlace;
}

/// Counts the taps of a pixel, and the words at each of them.
void count_taps(Plan& plan) {
  const Geometry& geometry = plan.geometry;
  const int64_t columns = geometry.x.kernel_size;
  // If the pixels of a kernel row are contiguous in the copy, they are one tap.
  plan.is_merged = plan.is_copied() && geometry.groups == 1 && geometry.x.dilation == 1;
  plan.taps = geometry.kernel_positions() / (plan.is_merged ? columns : 1);
  plan.depth = geometry.is_depthwise ? 1 : plan.channels / geometry.groups * (plan.is_merged ? columns : 1);
  const int64_t position_rows = plan.taps * plan.depth / geometry.kernel_positions();
  plan.panel_rows = geometry.positions * position_rows;
  plan.first_row = geometry.first_position * position_rows;
}

/// Divides the pixels of the result into blocks. Returns the number of words of a block's copied inputs.
int64_t divide_pixels(Plan& plan) {
  const Geometry& geometry = plan.geometry;
  const int64_t row = geometry.x.out_size;
  const int64_t most_converted = plan.converts() ? kConverted / (plan.channels * geometry.z.kernel_size) : kBlockPixels;
  const int64_t most = std::max<int64_t>(std::min({kBlockPixels, kTaps / plan.taps, most_converted}) / 8 * 8, 8);
  plan.has_rows = plan.is_copied() || geometry.is_transposed || row > most;
  if (!plan.has_rows) {
    plan.row_blocks = 1;
    plan.block_pixels = even_size(geometry.out_pixels(), most, 8);
    plan.blocks = divide_up(geometry.out_pixels(), plan.block_pixels);
    return 0;
  }
  // A block has several rows of pixels of a slice, or a part of a row.
  const int64_t most_rows = geometry.is_transposed ? 1 : std::max<int64_t>(most / row, 1);
  const int64_t rows = even_size(geometry.y.out_size, most_rows, 1);
  plan.block_pixels = row > most ? even_size(row, most, 1) : rows * row;
  plan.row_blocks = divide_up(row, plan.block_pixels);
  plan.blocks = geometry.out_slices() *
                (plan.row_blocks > 1 ? plan.row_blocks * geometry.y.out_size : divide_up(geometry.y.out_size, rows));
  return plan.is_copied() ? geometry.z.kernel_size * geometry.y.inputs(0, rows - 1) *
                                geometry.x.inputs(0, std::min(plan.block_pixels, row) - 1) * plan.channels
                          : 0;
}

/// Gives each kind of scratch memory an offset. `copied` is the number of words of a block's copied inputs.
void lay_out_scratch(Plan& plan, int64_t copied) {
  const Geometry& geometry = plan.geometry;
  const bool is_float = geometry.type == ScalarType::Float;
  int64_t weights = 0;
  int64_t sums = 0;
  if (!is_float && geometry.is_depthwise) {
    weights = (plan.taps + 1) * geometry.out_channels;    // with the biases
    sums = 2 * kDepthwisePixels * geometry.out_channels;  // with the residuals
  } else if (!is_float) {
    weights = plan.converts() ? kDepth * kStripColumns : 0;
    sums = plan.block_pixels * kStripColumns;
  }
  int64_t end = 0;
  const auto take = [&](int64_t count, int64_t element_size) {
    constexpr int64_t kCacheLine = 64;
    const int64_t start = end;
    end += divide_up(count * element_size, kCacheLine) * kCacheLine;
    return start;
  };
  plan.scratch.filled = take(1, sizeof(Block));
  plan.scratch.pixels = take(plan.tap_stride * plan.taps, sizeof(const float*));
  plan.scratch.zeros = take(geometry.channels, sizeof(float));
  plan.scratch.copied = take(copied, sizeof(float));
  plan.scratch.weights = take(weights, sizeof(float));
  plan.scratch.sums = take(sums, sizeof(float));
  plan.scratch.size = end;
}

}  // namespace

Scratch ScratchLayout::at(char* memory) const {
  const auto floats = [&](int64_t offset) { return reinterpret_cast<float*>(memory + offset); };
  return {reinterpret_cast<Block*>(memory + filled),
          reinterpret_cast<const float**>(memory + pixels),
          floats(zeros),
          floats(copied),
          floats(weights),
          floats(sums)};
}

Plan make_plan(const Geometry& geometry) {
  Plan plan{};
  plan.geometry = merged(geometry);
  choose_input(plan);
  count_taps(plan);
  const int64_t copied = divide_pixels(plan);
  plan.tile_pixels = geometry.is_depthwise ? kDepthwisePixels : kTilePixels;
  plan.tap_stride = plan.block_pixels + kTilePixels;
  plan.filled_channels = filled_columns(geometry.out_channels / geometry.groups);
  plan.strips = geometry.is_depthwise ? 1 : divide_up(plan.filled_channels, kStripColumns);
  plan.tiles = divide_up(plan.block_pixels, plan.tile_pixels);
  lay_out_scratch(plan, copied);
  const int64_t products = plan.geometry.out_pixels() * geometry.out_channels * plan.taps * plan.depth;
  const int64_t cost = products * (geometry.is_depthwise ? kDepthwiseCost : 1);
  plan.parts = part_count(std::min(plan.blocks * plan.block_units(), cost / kPartProducts));
  plan.threads = std::min(plan.parts, thread_count());
  return plan;
}

int64_t Plan::group_units() const { return tiles * (geometry.is_depthwise ? 1 : filled_channels / kFloatPanelColumns); }

int64_t Plan::block_units() const { return (geometry.is_depthwise ? 1 : geometry.groups) * group_units(); }

WorkPosition Plan::position_at(int64_t unit) const {
  WorkPosition position{unit / block_units(), unit % block_units() / group_units() * strips, 0};
  unit %= group_units();
  const int64_t strip_units = tiles * (geometry.is_depthwise ? 1 : kStripColumns / kFloatPanelColumns);
  const int64_t strip = unit / strip_units;
  position.strip += strip;
  position.tile =
      unit % strip_units / (geometry.is_depthwise ? 1 : strip_width(filled_channels, strip) / kFloatPanelColumns);
  return position;
}

Block Plan::block_at(int64_t index) const {
  if (!has_rows) {
    return {index * block_pixels, std::min(block_pixels, geometry.out_pixels() - index * block_pixels)};
  }
  const int64_t row = geometry.x.out_size;
  if (row_blocks > 1) {
    // The rows of the same columns follow each other, so that the inputs that they share stay in the cache.
    const int64_t rows = geometry.y.out_size;
    const int64_t column = index / rows % row_blocks * block_pixels;
    const int64_t first_row = index / rows / row_blocks * rows + index % rows;
    return {first_row * row + column, std::min(block_pixels, row - column)};
  }
  const int64_t pixels = geometry.slice_pixels();
  const int64_t of_slice = blocks / geometry.out_slices();
  const int64_t first = index % of_slice * block_pixels;
  return {index / of_slice * pixels + first, std::min(block_pixels, pixels - first)};
}

}  // namespace rules_executorch::kernels::packed
