#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/convolution/packed/float_rows.h"
#include "kernels/convolution/packed/float_tile.h"
#include "kernels/convolution/packed/operands.h"
#include "kernels/convolution/packed/plan.h"
#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/layouts.h"
#include "kernels/math/divide_up.h"

namespace rules_executorch::kernels::packed {

/// Computes pixels of a block, whose results are equally far apart, for the channels of a strip.
template <typename E>
class StripLoops {
 public:
  StripLoops(const Plan& plan, const Operands<E>& operands) : plan_(plan), operands_(operands) {}

  void compute(const Block& block, int64_t from, int64_t to, const Scratch& scratch, int64_t group,
               int64_t strip) const {
    const int64_t k = plan_.panel_rows;
    const int64_t of_group = plan_.out_channels / plan_.groups;
    const int64_t width = strip_width(plan_.filled_channels, strip);
    const int64_t stored = std::min(width, of_group - strip * kStripColumns);
    const int64_t channel = group * of_group + strip * kStripColumns;
    const int64_t panel_count = width / kFloatPanelColumns;
    const int64_t start_of_strip = strip_start(plan_.filled_channels, group, strip, k);
    const int64_t depth_step =
        plan_.depth > kDepth ? even_size(plan_.depth, kDepth, plan_.has_pairs ? 2 : 1) : plan_.depth;
    const int64_t place_step = std::max<int64_t>(kDepth / plan_.depth, 1);
    alignas(64) float biases[kStripColumns] = {};
    alignas(64) float no_biases[kStripColumns] = {};
    // The destination of the tiles: the results, or sums that are converted to results.
    float* const sums = scratch.sums;
    E* const results = operands_.out + plan_.out_at(block.first + from) + channel;
    const float* residuals = nullptr;
    if constexpr (kIsFloat) {
      residuals = operands_.residual != nullptr ? operands_.residual + (results - operands_.out) : nullptr;
      if (operands_.bias != nullptr) {
        std::copy_n(operands_.bias + channel, stored, biases);
      }
    } else {
      if (operands_.bias != nullptr) {
        load_row(operands_.bias + channel, biases, stored);
      }
      if (operands_.residual != nullptr) {
        residuals = sums;
        for (int64_t i = 0; i < to - from; ++i) {
          load_row(operands_.residual + (results - operands_.out) + i * plan_.out_pixel_stride,
                   sums + i * kStripColumns, stored);
          std::fill_n(sums + i * kStripColumns + stored, width - stored, 0.0f);
        }
      }
    }
    for (int64_t place = 0; place < plan_.places; place += place_step) {
      for (int64_t first = 0; first < plan_.depth; first += depth_step) {
        TileArgs tile{};
        tile.place_stride = plan_.place_stride;
        tile.places = std::min(place_step, plan_.places - place);
        tile.depth = std::min(depth_step, plan_.depth - first);
        tile.first = group * plan_.depth + first;
        tile.out_stride = kIsFloat ? plan_.out_pixel_stride : kStripColumns;
        tile.residual_stride = tile.out_stride;
        const int64_t rows = tile.places * tile.depth;
        const bool is_first = place == 0 && first == 0;
        const bool is_last = place + tile.places == plan_.places && first + tile.depth == plan_.depth;
        const int64_t start = start_of_strip + (plan_.first_row + place * plan_.depth + first) * kFloatPanelColumns;
        const float* slice = scratch.weights;
        const float* next_slice = slice;
        if (plan_.converts) {
          tile.panel_stride = rows * kFloatPanelColumns;
          for (int64_t panel = 0; panel < panel_count; ++panel) {
            convert_weights(operands_.weight + start + panel * k * kFloatPanelColumns, plan_.has_pairs, rows,
                            scratch.weights + panel * tile.panel_stride);
          }
        } else {
          slice = floats(operands_.weight) + start;
          tile.panel_stride = k * kFloatPanelColumns;
          // Prefetches the weights of the next tiles: the next rows of these panels, or those of the next strip. Each
          // tile prefetches a part of one panel.
          next_slice =
              is_last ? floats(operands_.weight) + start_of_strip + width * k : slice + rows * kFloatPanelColumns;
          const int64_t of_panel = divide_up(to - from, kTilePixels * panel_count);
          tile.next_stride = divide_up(kFloatPanelColumns, std::max<int64_t>(of_panel, 1));
        }
        tile.bias = is_first ? biases : no_biases;
        tile.minimum = is_last ? operands_.epilogue.minimum : -std::numeric_limits<float>::infinity();
        tile.maximum = is_last ? operands_.epilogue.maximum : std::numeric_limits<float>::infinity();
        for (int64_t i = from, count = 0; i < to; i += kTilePixels, ++count) {
          tile.pixel_count = std::min<int64_t>(kTilePixels, to - i);
          tile.pixels = scratch.pixels + place * plan_.place_stride + i;
          if constexpr (kIsFloat) {
            tile.out = results + (i - from) * tile.out_stride;
          } else {
            tile.out = sums + (i - from) * tile.out_stride;
          }
          tile.residual = !is_first              ? tile.out
                          : residuals != nullptr ? residuals + (i - from) * tile.out_stride
                                                 : nullptr;
          tile.weight = slice;
          tile.next_weight =
              next_slice + count % panel_count * tile.panel_stride + count / panel_count * rows * tile.next_stride;
          for (int64_t j = 0; j < width; j += kTileChannels) {
            const int64_t channels_left = std::min(stored - j, kTileChannels);
            if (channels_left <= 0) {
              break;
            }
            const int64_t vectors_left = (width - j) / kLanes;
            const bool is_narrow = !plan_.counts_pairs && channels_left <= kNarrowChannels;
            const SumTile sum = is_narrow            ? narrow_tile_of(tile.pixel_count)
                                : plan_.counts_pairs ? tile_of<kMultipliesPairs<E>>(tile.pixel_count, vectors_left)
                                                     : tile_of<false>(tile.pixel_count, vectors_left);
            const bool is_whole = is_narrow      ? channels_left == kNarrowChannels
                                  : kSpansPanels ? channels_left % kLanes == 0
                                                 : channels_left == kTileChannels;
            if (!kIsFloat || is_whole) {
              sum(tile);
            } else {
              sum_part(sum, tile, channels_left);
            }
            tile.out += kTileChannels;
            tile.residual += tile.residual != nullptr ? kTileChannels : 0;
            tile.bias += kTileChannels;
            tile.weight += kTileChannels / kFloatPanelColumns * tile.panel_stride;
          }
          tile.bias = is_first ? biases : no_biases;
        }
      }
    }
    if (!kIsFloat || operands_.epilogue.activation.apply != nullptr) {
      for (int64_t i = 0; i < to - from; ++i) {
        operands_.store(sums + i * kStripColumns, results + i * plan_.out_pixel_stride, stored);
      }
    }
  }

 private:
  static constexpr bool kIsFloat = Operands<E>::kIsFloat;

  /// The elements as floats with the same bits.
  static const float* floats(const E* elements) { return reinterpret_cast<const float*>(elements); }

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
};

}  // namespace rules_executorch::kernels::packed
