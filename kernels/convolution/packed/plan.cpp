#include "kernels/convolution/packed/plan.h"

#include <algorithm>

#include "kernels/convolution/packed/depthwise_tile.h"
#include "kernels/convolution/packed/float_rows.h"
#include "kernels/convolution/packed/float_tile.h"
#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/layouts.h"
#include "kernels/math/divide_up.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"

namespace rules_executorch::kernels::packed {
namespace {

/// The largest number of entries of the indirection buffer of a block, and the largest number of pixels of a block.
constexpr int64_t kPlaces = 4096;
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

}  // namespace

Plan make_plan(const Geometry& geometry) {
  Plan plan{};
  static_cast<Geometry&>(plan) = geometry;
  plan.row_blocks = 1;
  const bool is_float = geometry.type == ScalarType::Float;
  const bool loads_floats = kLoadsHalf || geometry.type != ScalarType::Half;
  const bool multiplies_pairs = kMultipliesPairs<BFloat16> && geometry.type == ScalarType::BFloat16;
  plan.has_pairs = geometry.type == ScalarType::BFloat16 && !plan.is_depthwise && plan.channels / plan.groups % 2 == 0;
  const bool is_last =
      plan.in_channel_stride == 1 && plan.in_pixel_stride == plan.channels && plan.in_channels == plan.channels;
  plan.counts_pairs = plan.is_depthwise ? !is_float && loads_floats && is_last && plan.channels % 2 == 0
                                        : multiplies_pairs && plan.has_pairs;
  plan.converts = !is_float && !plan.counts_pairs;
  plan.is_copied = plan.converts || !is_last || (plan.groups == 1 && plan.channels <= kCopiedImageMostChannels);
  if (plan.counts_pairs) {
    plan.channels /= 2;
    if (!plan.is_copied) {
      for (int64_t* const stride : {&plan.in_batch_stride, &plan.in_row_stride, &plan.in_pixel_stride}) {
        *stride /= 2;
      }
    }
  }
  // If the pixels of a kernel row are contiguous in the copy, they are one place.
  plan.is_merged = plan.is_copied && plan.groups == 1 && plan.x.dilation == 1;
  plan.places = plan.y.kernel_size * (plan.is_merged ? 1 : plan.x.kernel_size);
  plan.depth = plan.is_depthwise ? 1 : plan.channels / plan.groups * (plan.is_merged ? plan.x.kernel_size : 1);
  const int64_t position_rows = plan.places * plan.depth / (plan.y.kernel_size * plan.x.kernel_size);
  plan.panel_rows = plan.positions * position_rows;
  plan.first_row = plan.first_position * position_rows;
  const int64_t most_converted = plan.converts ? kConverted / plan.channels : kBlockPixels;
  const int64_t most = std::max<int64_t>(std::min({kBlockPixels, kPlaces / plan.places, most_converted}) / 8 * 8, 8);
  if (plan.is_copied || plan.is_transposed) {
    // A block has several rows of pixels, or a part of a row.
    const int64_t most_rows = plan.is_transposed ? 1 : std::max<int64_t>(most / plan.x.out_size, 1);
    const int64_t rows = even_size(plan.y.out_size, most_rows, 1);
    plan.block_pixels = plan.x.out_size > most ? even_size(plan.x.out_size, most, 1) : rows * plan.x.out_size;
    plan.row_blocks = divide_up(plan.x.out_size, plan.block_pixels);
    plan.blocks =
        plan.batch * (plan.row_blocks > 1 ? plan.row_blocks * plan.y.out_size : divide_up(plan.y.out_size, rows));
    plan.copy_size =
        plan.y.inputs(0, rows - 1) * plan.x.inputs(0, std::min(plan.block_pixels, plan.x.out_size) - 1) * plan.channels;
  } else {
    plan.block_pixels = even_size(plan.batch * plan.y.out_size * plan.x.out_size, most, 8);
    plan.blocks = divide_up(plan.batch * plan.y.out_size * plan.x.out_size, plan.block_pixels);
  }
  plan.tile_pixels = plan.is_depthwise ? kDepthwisePixels : kTilePixels;
  plan.place_stride = plan.block_pixels + kTilePixels;
  plan.filled_channels = filled_columns(plan.out_channels / plan.groups);
  plan.strips = plan.is_depthwise ? 1 : divide_up(plan.filled_channels, kStripColumns);
  plan.tiles = divide_up(plan.block_pixels, plan.tile_pixels);
  if (!is_float) {
    plan.weights_size = plan.is_depthwise ? (plan.places + 1) * plan.out_channels
                        : plan.converts   ? kDepth * kStripColumns
                                          : 0;
    plan.sums_size = plan.is_depthwise ? 2 * kDepthwisePixels * plan.out_channels : plan.block_pixels * kStripColumns;
  }
  plan.thread_scratch = kFilledSize + (plan.place_stride * plan.places * 8 +
                                       (plan.copy_size + plan.channels + plan.weights_size + plan.sums_size) * 4 + 63) /
                                          64 * 64;
  const int64_t products =
      plan.batch * plan.y.out_size * plan.x.out_size * plan.out_channels * plan.places * plan.depth;
  const int64_t cost = products * (plan.is_depthwise ? kDepthwiseCost : 1);
  plan.parts = part_count(std::min(plan.blocks * plan.block_units(), cost / kPartProducts));
  plan.threads = std::min(plan.parts, thread_count());
  return plan;
}

int64_t Plan::group_units() const { return tiles * (is_depthwise ? 1 : filled_channels / kFloatPanelColumns); }

int64_t Plan::block_units() const { return (is_depthwise ? 1 : groups) * group_units(); }

Place Plan::place_at(int64_t unit) const {
  Place place{unit / block_units(), unit % block_units() / group_units() * strips, 0};
  unit %= group_units();
  const int64_t strip_units = tiles * (is_depthwise ? 1 : kStripColumns / kFloatPanelColumns);
  const int64_t strip = unit / strip_units;
  place.strip += strip;
  place.tile = unit % strip_units / (is_depthwise ? 1 : strip_width(filled_channels, strip) / kFloatPanelColumns);
  return place;
}

Block Plan::block_at(int64_t index) const {
  const int64_t pixels = y.out_size * x.out_size;
  if (!is_copied && !is_transposed) {
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

}  // namespace rules_executorch::kernels::packed
