#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/convolution/packed/float_tile.h"
#include "kernels/convolution/packed/floats.h"
#include "kernels/convolution/packed/operands.h"
#include "kernels/convolution/packed/plan.h"
#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/layouts.h"
#include "kernels/gemm/reduced_rows.h"
#include "kernels/math/divide_up.h"

namespace rules_executorch::kernels::packed {

/// Computes pixels of blocks for the channels of a strip. The strips are numbered across all groups.
template <typename E>
class StripLoops {
 public:
  StripLoops(const Plan& plan, const Operands<E>& operands, const Scratch& scratch, int64_t strip)
      : plan_(plan), operands_(operands), scratch_(scratch), group_(strip / plan.strips) {
    const int64_t of_group = plan.geometry.out_channels / plan.geometry.groups;
    const int64_t first = strip % plan.strips * kStripColumns;
    width_ = strip_width(plan.filled_channels, strip % plan.strips);
    stored_ = std::min(width_, of_group - first);
    channel_ = group_ * of_group + first;
    weights_ = strip_start(plan.filled_channels, group_, strip % plan.strips, plan.panel_rows);
    if (operands.bias == nullptr) {
      return;
    }
    if constexpr (kIsFloat) {
      std::copy_n(operands.bias + channel_, stored_, biases_);
    } else {
      load_row(operands.bias + channel_, biases_, stored_);
    }
  }

  /// Computes the pixels `from` to `to` (exclusive) of a block, whose results are equally far apart.
  void compute(const Block& block, int64_t from, int64_t to) const {
    E* const results = operands_.out + plan_.geometry.out_at(block.first + from) + channel_;
    const Target target = target_of(results, to - from);
    const int64_t depth_step =
        plan_.depth > kDepth ? even_size(plan_.depth, kDepth, plan_.has_pairs ? 2 : 1) : plan_.depth;
    const int64_t tap_step = std::max<int64_t>(kDepth / plan_.depth, 1);
    for (int64_t tap = 0; tap < plan_.taps; tap += tap_step) {
      for (int64_t first = 0; first < plan_.depth; first += depth_step) {
        sum_section({tap, std::min(tap_step, plan_.taps - tap), first, std::min(depth_step, plan_.depth - first)},
                    target, from, to);
      }
    }
    if (!kIsFloat || operands_.epilogue.activation.apply != nullptr) {
      for (int64_t i = 0; i < to - from; ++i) {
        operands_.store(scratch_.sums + i * kStripColumns, results + i * plan_.geometry.out_pixel_stride, stored_);
      }
    }
  }

 private:
  static constexpr bool kIsFloat = Operands<E>::kIsFloat;

  /// The sums of the first pixel, and the tensor that is added to them, which is null for none.
  struct Target {
    float* sums;
    const float* residuals;
    int64_t stride;  // of a pixel
  };

  /// The inputs of each pixel that are summed before a tile is stored: at several taps, or a part of one tap.
  struct Section {
    int64_t tap;
    int64_t taps;
    int64_t first;
    int64_t depth;

    int64_t rows() const { return taps * depth; }
  };

  /// The sums are the results, or floats that are converted to the results.
  Target target_of(E* results, [[maybe_unused]] int64_t count) const {
    const E* const residuals = operands_.residual != nullptr ? operands_.residual + (results - operands_.out) : nullptr;
    const int64_t step = plan_.geometry.out_pixel_stride;
    if constexpr (kIsFloat) {
      return {results, residuals, step};
    } else {
      for (int64_t i = 0; i < count && residuals != nullptr; ++i) {
        load_row(residuals + i * step, scratch_.sums + i * kStripColumns, stored_);
        std::fill_n(scratch_.sums + i * kStripColumns + stored_, width_ - stored_, 0.0f);
      }
      return {scratch_.sums, residuals != nullptr ? scratch_.sums : nullptr, kStripColumns};
    }
  }

  void sum_section(const Section& section, const Target& target, int64_t from, int64_t to) const {
    const bool is_first = section.tap == 0 && section.first == 0;
    const bool is_last = section.tap + section.taps == plan_.taps && section.first + section.depth == plan_.depth;
    const int64_t panels = width_ / kFloatPanelColumns;
    TileArgs tile{};
    tile.tap_stride = plan_.tap_stride;
    tile.taps = section.taps;
    tile.depth = section.depth;
    tile.first = group_ * plan_.depth + section.first;
    tile.out_stride = target.stride;
    tile.residual_stride = target.stride;
    tile.minimum = is_last ? operands_.epilogue.minimum : -std::numeric_limits<float>::infinity();
    tile.maximum = is_last ? operands_.epilogue.maximum : std::numeric_limits<float>::infinity();
    // Each tile prefetches a part of one panel.
    const int64_t tiles_of_panel = divide_up(to - from, kTilePixels * panels);
    const float* const next = prepare_weights(section, is_last, std::max<int64_t>(tiles_of_panel, 1), tile);
    const float* const weights = tile.weight;
    for (int64_t i = from, number = 0; i < to; i += kTilePixels, ++number) {
      const int64_t at = (i - from) * target.stride;
      tile.pixel_count = std::min<int64_t>(kTilePixels, to - i);
      tile.pixels = scratch_.pixels + section.tap * plan_.tap_stride + i;
      tile.weight = weights;
      tile.bias = is_first ? biases_ : no_biases_;
      tile.out = target.sums + at;
      tile.residual = !is_first ? tile.out : target.residuals != nullptr ? target.residuals + at : nullptr;
      tile.next_weight =
          next + number % panels * tile.panel_stride + number / panels * section.rows() * tile.next_stride;
      sum_channels(tile);
    }
  }

  /// Sets the weights of a tile. Returns the weights of the next tiles: the next rows of these panels, or those of the
  /// next strip.
  const float* prepare_weights(const Section& section, bool is_last, int64_t tiles_of_panel, TileArgs& tile) const {
    const int64_t k = plan_.panel_rows;
    const int64_t row = plan_.first_row + section.tap * plan_.depth + section.first;
    const int64_t start = weights_ + row * kFloatPanelColumns;
    if (plan_.converts()) {
      tile.weight = scratch_.weights;
      tile.panel_stride = section.rows() * kFloatPanelColumns;
      for (int64_t panel = 0; panel < width_ / kFloatPanelColumns; ++panel) {
        convert_weights(operands_.weight + start + panel * k * kFloatPanelColumns, plan_.has_pairs, section.rows(),
                        scratch_.weights + panel * tile.panel_stride);
      }
      return tile.weight;
    }
    // Words have the size of floats.
    const float* const words = reinterpret_cast<const float*>(operands_.weight);
    tile.weight = words + start;
    tile.panel_stride = k * kFloatPanelColumns;
    tile.next_stride = divide_up(kFloatPanelColumns, tiles_of_panel);
    return is_last ? words + weights_ + width_ * k : tile.weight + section.rows() * kFloatPanelColumns;
  }

  /// Sums all channels of the pixels of a tile. `tile` has the operands of the first channels, then those behind the
  /// last.
  void sum_channels(TileArgs& tile) const {
    for (int64_t channel = 0; channel < stored_; channel += kTileChannels) {
      const int64_t left = std::min(stored_ - channel, kTileChannels);
      const bool is_narrow = !plan_.counts_pairs && left <= kNarrowChannels;
      const int64_t vectors = (width_ - channel) / kLanes;
      const SumTile sum = is_narrow            ? narrow_tile_of(tile.pixel_count)
                          : plan_.counts_pairs ? tile_of<kMultipliesPairs<E>>(tile.pixel_count, vectors)
                                               : tile_of<false>(tile.pixel_count, vectors);
      const bool is_whole = is_narrow      ? left == kNarrowChannels
                            : kSpansPanels ? left % kLanes == 0
                                           : left == kTileChannels;
      if (!kIsFloat || is_whole) {
        sum(tile);
      } else {
        sum_part(sum, tile, left);
      }
      tile.out += kTileChannels;
      tile.residual += tile.residual != nullptr ? kTileChannels : 0;
      tile.bias += kTileChannels;
      tile.weight += kTileChannels / kFloatPanelColumns * tile.panel_stride;
    }
  }

  /// A tile of which only the first `n` channels are stored.
  static void sum_part(SumTile sum, const TileArgs& tile, int64_t n) {
    alignas(64) float residuals[kTilePixels * kTileChannels];
    alignas(64) float sums[kTilePixels * kTileChannels];
    TileArgs part = tile;
    part.out = sums;
    part.out_stride = kTileChannels;
    if (tile.residual != nullptr) {
      for (int64_t i = 0; i < tile.pixel_count; ++i) {
        std::copy_n(tile.residual + i * tile.residual_stride, n, residuals + i * kTileChannels);
        std::fill_n(residuals + i * kTileChannels + n, kTileChannels - n, 0.0f);
      }
      part.residual = residuals;
      part.residual_stride = kTileChannels;
    }
    sum(part);
    for (int64_t i = 0; i < tile.pixel_count; ++i) {
      std::copy_n(sums + i * kTileChannels, n, tile.out + i * tile.out_stride);
    }
  }

  const Plan& plan_;
  const Operands<E>& operands_;
  const Scratch& scratch_;
  int64_t group_;
  int64_t width_;    // channels in the panels
  int64_t stored_;   // channels of the result
  int64_t channel_;  // the first one
  int64_t weights_;  // the first word of the strip's weights
  alignas(64) float biases_[kStripColumns] = {};
  alignas(64) float no_biases_[kStripColumns] = {};
};

}  // namespace rules_executorch::kernels::packed
