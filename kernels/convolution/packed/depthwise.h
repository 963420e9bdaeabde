#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/convolution/image_geometry.h"
#include "kernels/convolution/packed/depthwise_tile.h"
#include "kernels/convolution/packed/float_tile.h"
#include "kernels/convolution/packed/floats.h"
#include "kernels/convolution/packed/operands.h"
#include "kernels/convolution/packed/plan.h"
#include "kernels/gemm/reduced_rows.h"
#include "kernels/math/divide_up.h"
#include "kernels/simd/width.h"

namespace rules_executorch::kernels::packed {

/// The largest number of channels that are computed for all pixels of a row before the other channels.
inline constexpr int64_t kDepthwiseChannels = 192;

/// Computes the pixels of a block of a depthwise convolution.
template <typename E>
class DepthwiseLoops {
 public:
  DepthwiseLoops(const Plan& plan, const Operands<E>& operands)
      : plan_(plan), geometry_(plan.geometry), operands_(operands) {}

  void compute(const Block& block, int64_t from, int64_t to, const Scratch& scratch) const {
    TileArgs tile{};
    tile.tap_stride = plan_.tap_stride;
    tile.taps = plan_.taps;
    tile.depth = geometry_.out_channels;
    tile.weight_stride = geometry_.out_channels;
    tile.residual_stride = geometry_.out_channels;
    tile.out_stride = geometry_.out_channels;
    tile.minimum = operands_.epilogue.minimum;
    tile.maximum = operands_.epilogue.maximum;
    if constexpr (kIsFloat) {
      tile.weight = operands_.weight;
      tile.bias = operands_.bias != nullptr ? operands_.bias : scratch.zeros;
    } else {
      tile.weight = scratch.weights;
      tile.bias = scratch.weights + plan_.taps * geometry_.out_channels;
    }
    if constexpr (kIsFloat) {
      if (has_neighbors()) {
        compute_rows(block, from, to, scratch.pixels, tile);
        return;
      }
    }
    for (int64_t i = from; i < to; i += kDepthwisePixels) {
      const int64_t at = (block.first + i) * geometry_.out_channels;
      tile.pixels = scratch.pixels + i;
      tile.pixel_count = std::min<int64_t>(kDepthwisePixels, to - i);
      if constexpr (kIsFloat) {
        tile.residual = operands_.residual != nullptr ? operands_.residual + at : nullptr;
        tile.out = operands_.out + at;
      } else {
        tile.out = scratch.sums;
        if (operands_.residual != nullptr) {
          // The residuals are copied, because some sums may be computed twice.
          float* const residuals = scratch.sums + kDepthwisePixels * geometry_.out_channels;
          load_row(operands_.residual + at, residuals, tile.pixel_count * geometry_.out_channels);
          tile.residual = residuals;
        }
      }
      if (plan_.counts_pairs) {
        sum_depthwise<E>(tile);
      } else {
        sum_depthwise<float>(tile);
      }
      for (int64_t row = 0; row < tile.pixel_count; ++row) {
        operands_.store(tile.out + row * geometry_.out_channels, operands_.out + at + row * geometry_.out_channels,
                        geometry_.out_channels);
      }
    }
  }

 private:
  static constexpr bool kIsFloat = Operands<E>::kIsFloat;

  /// Whether neighboring pixels share inputs, and the shared inputs fit into the registers.
  bool has_neighbors() const {
    const auto is_dense = [](const ImageAxis& axis) { return axis.kernel_size == 3 && axis.dilation == 1; };
    return kVectorRegisters == 32 && geometry_.z.kernel_size == 1 && is_dense(geometry_.y) && is_dense(geometry_.x) &&
           geometry_.y.stride == geometry_.x.stride && geometry_.x.stride <= 2 && geometry_.channels >= kLanes &&
           geometry_.x.out_size >= kDepthwisePixels;
  }

  /// Computes a depthwise convolution of floats whose neighboring pixels share inputs. `shape` has the parameters of a
  /// tile without its pixels.
  void compute_rows(const Block& block, int64_t from, int64_t to, const float* const* pixels,
                    const TileArgs& shape) const {
    for (int64_t i = from; i < to;) {
      // The remaining pixels of the row.
      const int64_t row = (block.first + i) / geometry_.x.out_size;
      const int64_t count = std::min((row + 1) * geometry_.x.out_size - (block.first + i), to - i);
      if (count == geometry_.x.out_size && to - i >= 2 * count &&
          row % geometry_.y.out_size + 1 < geometry_.y.out_size) {
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

  /// Computes fewer pixels than a tile has. The last pixel replaces the missing ones.
  void compute_few(const Block& block, int64_t first, int64_t count, const float* const* pixels,
                   const TileArgs& shape) const {
    const float* met[9 * kDepthwisePixels];
    for (int64_t tap = 0; tap < plan_.taps; ++tap) {
      for (int64_t i = 0; i < kDepthwisePixels; ++i) {
        met[tap * kDepthwisePixels + i] = pixels[tap * plan_.tap_stride + first + std::min(i, count - 1)];
      }
    }
    TileArgs tile = tile_at(block, first, pixels, shape);
    tile.pixels = met;
    tile.tap_stride = kDepthwisePixels;
    tile.pixel_count = count;
    sum_depthwise<float>(tile);
    activate(tile, 0, geometry_.channels);
  }

  /// Computes `count` pixels, at least kDepthwisePixels, of one row or of two consecutive rows. A few channels at a
  /// time, so that the inputs shared with the next pixels are in the L1 cache.
  template <int kRows>
  void compute_neighbors(const Block& block, int64_t first, int64_t count, const float* const* pixels,
                         const TileArgs& shape) const {
    const int64_t step = even_size(geometry_.channels, kDepthwiseChannels, kLanes);
    for (int64_t channel = 0; channel < geometry_.channels; channel += step) {
      const int64_t end = std::min(channel + step, geometry_.channels);
      for (int64_t i = 0; i < count; i += kDepthwisePixels) {
        // Some of the last pixels may be computed twice.
        const int64_t at = first + std::min(i, count - kDepthwisePixels);
        TileArgs tiles[kRows];
        for (int row = 0; row < kRows; ++row) {
          tiles[row] = tile_at(block, at + row * count, pixels, shape);
        }
        if (geometry_.x.stride == 1) {
          sum_neighbors<kRows, 1>(tiles, count, channel, end);
        } else {
          sum_neighbors<kRows, 2>(tiles, count, channel, end);
        }
        for (const TileArgs& tile : tiles) {
          activate(tile, std::min(channel, end - kLanes), end);
        }
      }
    }
  }

  /// The tile of the pixels of a block from `i` on.
  TileArgs tile_at(const Block& block, int64_t i, const float* const* pixels, const TileArgs& shape) const {
    const int64_t at = (block.first + i) * geometry_.channels;
    TileArgs tile = shape;
    tile.pixels = pixels + i;
    tile.residual = operands_.residual != nullptr ? operands_.residual + at : nullptr;
    tile.out = operands_.out + at;
    tile.pixel_count = kDepthwisePixels;
    return tile;
  }

  void activate(const TileArgs& tile, int64_t channel, int64_t end) const {
    if (operands_.epilogue.activation.apply != nullptr) {
      for (int64_t i = 0; i < tile.pixel_count; ++i) {
        operands_.epilogue.activation(tile.out + i * geometry_.channels + channel, end - channel);
      }
    }
  }

  const Plan& plan_;
  const Geometry& geometry_;
  const Operands<E>& operands_;
};

}  // namespace rules_executorch::kernels::packed
