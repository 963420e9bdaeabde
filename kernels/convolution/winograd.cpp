#include "kernels/convolution/winograd.h"

#include <algorithm>
#include <limits>

#include "kernels/convolution/winograd_transforms.h"
#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/layouts.h"
#include "kernels/gemm/matmul.h"
#include "kernels/math/divide_up.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/simd/simd.h"

namespace rules_executorch::kernels {
namespace {

using Floats = simd::Vector<float>;
constexpr int64_t kLanes = simd::kLanes<float>;

/// The approximate number of bytes of a block of transformed tiles and its sums of a strip. They stay in the L2 cache.
constexpr int64_t kTilesBytes = 1024 * 1024;
/// The number of input channels of the kernels that are transformed together. With the columns of a strip, the
/// transformed kernels stay in the L2 cache beside the tiles.
constexpr int64_t kBlockChannels = 64;
constexpr int64_t kKernelPlaces = kWinogradKernelSize * kWinogradKernelSize;
/// The number of tiles of a block is a multiple of this number, so that the rows of the product fill whole tiles of the
/// product.
constexpr int64_t kTileStep = 8;
/// The lowest number of multiplications for a thread.
constexpr int64_t kPartProducts = 8 * kGrain;

/// Computes one convolution by its plan.
class WinogradConvolution {
 public:
  WinogradConvolution(const ProductLoops& loops, const WinogradPlan& plan, const WinogradOperands& operands)
      : loops_(loops), plan_(plan), geometry_(plan.geometry), operands_(operands) {}

  void compute(float* scratch) const {
    const int64_t tiles = plan_.tiles;
    parallel_for(0, plan_.parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        const int64_t end = (part + 1) * tiles / plan_.parts;
        for (int64_t tile = part * tiles / plan_.parts; tile < end; tile += plan_.block_tiles) {
          const int64_t count = std::min(plan_.block_tiles, end - tile);
          if (geometry_.tile_outputs == 2) {
            compute_block<2>(tile, count, scratch + part * plan_.scratch_size);
          } else {
            compute_block<4>(tile, count, scratch + part * plan_.scratch_size);
          }
        }
      }
    });
  }

 private:
  /// The position of the first output of a tile.
  struct Corner {
    int64_t image;
    int64_t y;
    int64_t x;
  };

  Corner corner(int64_t tile) const {
    const int64_t row = tile / plan_.tiles_of_row;
    return {row / plan_.tiles_of_column, row % plan_.tiles_of_column * geometry_.tile_outputs,
            tile % plan_.tiles_of_row * geometry_.tile_outputs};
  }

  template <int kOutputs>
  void compute_block(int64_t first, int64_t count, float* scratch) const {
    float* const inputs = scratch;
    float* const weights = inputs + plan_.places * plan_.place_stride;
    float* const sums = weights + plan_.places * plan_.weights_stride;
    float* const zeros = sums + plan_.places * plan_.sums_stride;
    std::fill_n(zeros, geometry_.channels, 0.0f);
    for (int64_t i = 0; i < count; ++i) {
      transform_inputs<kOutputs>(corner(first + i), zeros, inputs + i * plan_.filled_channels);
    }
    for (int64_t channel = 0; channel < geometry_.out_channels; channel += kStripColumns) {
      const int64_t width = std::min(kStripColumns, plan_.filled_out_channels - channel);
      for (int64_t from = 0; from < geometry_.channels; from += plan_.block_channels) {
        const int64_t n = std::min(plan_.block_channels, geometry_.channels - from);
        transform_kernels<kOutputs>(channel, width, from, n, weights);
        multiply(inputs + from, weights, count, width, n, /*replaces_sums=*/from == 0, sums);
      }
      for (int64_t i = 0; i < count; ++i) {
        transform_sums<kOutputs>(sums + i * width, channel, std::min(width, geometry_.out_channels - channel),
                                 corner(first + i));
      }
    }
  }

  /// Transforms the inputs of a tile. Inputs outside of the image are 0.
  template <int kOutputs>
  void transform_inputs(const Corner& corner, const float* zeros, float* target) const {
    constexpr int kInputs = WinogradTransform<kOutputs>::kInputs;
    const float* pixels[kInputs][kInputs];
    for (int64_t i = 0; i < kInputs; ++i) {
      const int64_t y = corner.y - geometry_.y.padding + i;
      for (int64_t j = 0; j < kInputs; ++j) {
        const int64_t x = corner.x - geometry_.x.padding + j;
        const bool is_inside = y >= 0 && y < geometry_.y.in_size && x >= 0 && x < geometry_.x.in_size;
        pixels[i][j] = is_inside ? operands_.in + ((corner.image * geometry_.y.in_size + y) * geometry_.x.in_size + x) *
                                                      geometry_.channels
                                 : zeros;
      }
    }
    for (int64_t channel = 0; channel < geometry_.channels; channel += kLanes) {
      const int64_t n = geometry_.channels - channel;
      Floats columns[kInputs][kInputs];
#pragma GCC unroll 6
      for (int j = 0; j < kInputs; ++j) {
        Floats values[kInputs];
#pragma GCC unroll 6
        for (int i = 0; i < kInputs; ++i) {
          values[i] = simd::load_first(pixels[i][j] + channel, n);
        }
        WinogradTransform<kOutputs>::of_inputs(values, columns[j]);
      }
#pragma GCC unroll 6
      for (int i = 0; i < kInputs; ++i) {
        Floats values[kInputs];
        Floats transformed[kInputs];
#pragma GCC unroll 6
        for (int j = 0; j < kInputs; ++j) {
          values[j] = columns[j][i];
        }
        WinogradTransform<kOutputs>::of_inputs(values, transformed);
#pragma GCC unroll 6
        for (int j = 0; j < kInputs; ++j) {
          simd::store(target + (i * kInputs + j) * plan_.place_stride + channel, transformed[j]);
        }
      }
    }
  }

  /// Transforms the kernels of `n` input channels, from channel `from` on, for the columns of a strip. At each place,
  /// `target` has panels as `operands_.weight`.
  template <int kOutputs>
  void transform_kernels(int64_t column, int64_t width, int64_t from, int64_t n, float* target) const {
    constexpr int kInputs = WinogradTransform<kOutputs>::kInputs;
    constexpr int kSize = kWinogradKernelSize;
    const int64_t step = geometry_.channels * kFloatPanelColumns;
    const float* const weight =
        operands_.weight + column * kKernelPlaces * geometry_.channels + from * kFloatPanelColumns;
    for (int64_t panel = 0; panel < width; panel += kFloatPanelColumns) {
      const float* const kernels = weight + panel * kKernelPlaces * geometry_.channels;
      for (int64_t i = 0; i < n * kFloatPanelColumns; i += kLanes) {
        Floats columns[kSize][kInputs];
#pragma GCC unroll 3
        for (int x = 0; x < kSize; ++x) {
          Floats values[kSize];
#pragma GCC unroll 3
          for (int y = 0; y < kSize; ++y) {
            values[y] = simd::load(kernels + (y * kSize + x) * step + i);
          }
          WinogradTransform<kOutputs>::of_kernels(values, columns[x]);
        }
#pragma GCC unroll 6
        for (int y = 0; y < kInputs; ++y) {
          const Floats values[kSize] = {columns[0][y], columns[1][y], columns[2][y]};
          Floats transformed[kInputs];
          WinogradTransform<kOutputs>::of_kernels(values, transformed);
#pragma GCC unroll 6
          for (int x = 0; x < kInputs; ++x) {
            simd::store(target + (y * kInputs + x) * plan_.weights_stride + panel * n + i, transformed[x]);
          }
        }
      }
    }
  }

  /// Multiplies `n` input channels of `count` tiles by the transformed kernels of a strip, at each place.
  void multiply(const float* inputs, const float* weights, int64_t count, int64_t width, int64_t n, bool replaces_sums,
                float* sums) const {
    PanelProduct product{};
    product.totals_stride = width;
    product.a_stride = plan_.filled_channels;
    product.rows = count;
    product.columns = width;
    product.k = n;
    product.replaces_totals = replaces_sums;
    for (int64_t place = 0; place < plan_.places; ++place) {
      product.totals = sums + place * plan_.sums_stride;
      product.a = inputs + place * plan_.place_stride;
      product.b = weights + place * plan_.weights_stride;
      add_panels<float>(loops_.add_panel, product, n * kFloatPanelColumns);
    }
  }

  /// Transforms the sums of a tile to its outputs in `n` channels, and stores the outputs that are inside the image.
  template <int kOutputs>
  void transform_sums(const float* sums, int64_t channel, int64_t n, const Corner& corner) const {
    constexpr int kInputs = WinogradTransform<kOutputs>::kInputs;
    const int64_t rows = std::min<int64_t>(kOutputs, geometry_.y.out_size - corner.y);
    const int64_t columns = std::min<int64_t>(kOutputs, geometry_.x.out_size - corner.x);
    const int64_t at =
        ((corner.image * geometry_.y.out_size + corner.y) * geometry_.x.out_size + corner.x) * geometry_.out_channels +
        channel;
    for (int64_t c = 0; c < n; c += kLanes) {
      const int64_t lanes = n - c;
      Floats transformed[kInputs][kOutputs];
#pragma GCC unroll 6
      for (int j = 0; j < kInputs; ++j) {
        Floats values[kInputs];
#pragma GCC unroll 6
        for (int i = 0; i < kInputs; ++i) {
          values[i] = simd::load(sums + (i * kInputs + j) * plan_.sums_stride + c);
        }
        WinogradTransform<kOutputs>::of_sums(values, transformed[j]);
      }
      const Floats biases =
          operands_.bias != nullptr ? simd::load_first(operands_.bias + channel + c, lanes) : Floats{};
#pragma GCC unroll 4
      for (int i = 0; i < kOutputs; ++i) {
        Floats values[kInputs];
        Floats outputs[kOutputs];
#pragma GCC unroll 6
        for (int j = 0; j < kInputs; ++j) {
          values[j] = transformed[j][i];
        }
        WinogradTransform<kOutputs>::of_sums(values, outputs);
        if (i >= rows) {
          break;
        }
#pragma GCC unroll 4
        for (int j = 0; j < kOutputs; ++j) {
          if (j >= columns) {
            break;
          }
          const int64_t pixel = at + (i * geometry_.x.out_size + j) * geometry_.out_channels + c;
          Floats total = outputs[j] + biases;
          if (operands_.residual != nullptr) {
            total += simd::load_first(operands_.residual + pixel, lanes);
          }
          simd::store_first(operands_.out + pixel,
                            simd::clamp(total, operands_.epilogue.minimum, operands_.epilogue.maximum), lanes);
        }
      }
    }
    if (operands_.epilogue.activation.apply != nullptr) {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          operands_.epilogue.activation(operands_.out + at + (i * geometry_.x.out_size + j) * geometry_.out_channels,
                                        n);
        }
      }
    }
  }

  const ProductLoops& loops_;
  const WinogradPlan& plan_;
  const WinogradGeometry& geometry_;
  const WinogradOperands& operands_;
};

}  // namespace

WinogradPlan plan_winograd_convolution(const WinogradGeometry& geometry) {
  WinogradPlan plan{};
  plan.geometry = geometry;
  const int64_t tile_inputs = geometry.tile_outputs + kWinogradKernelSize - 1;
  plan.places = tile_inputs * tile_inputs;
  plan.filled_channels = divide_up(geometry.channels, kLanes) * kLanes;
  plan.filled_out_channels = filled_columns(geometry.out_channels);
  plan.tiles_of_row = divide_up(geometry.x.out_size, geometry.tile_outputs);
  plan.tiles_of_column = divide_up(geometry.y.out_size, geometry.tile_outputs);
  plan.tiles = geometry.images * plan.tiles_of_column * plan.tiles_of_row;
  const int64_t cost = plan.tiles * plan.places * geometry.channels * geometry.out_channels;
  plan.parts = std::max<int64_t>(1, std::min({divide_up(plan.tiles, kTileStep), cost / kPartProducts, thread_count()}));
  const int64_t tile_bytes = plan.places * (plan.filled_channels + kStripColumns) * sizeof(float);
  const int64_t most = divide_up(kTilesBytes, tile_bytes * kTileStep) * kTileStep;
  plan.block_tiles = even_size(divide_up(plan.tiles, plan.parts), most, kTileStep);
  // One padding line avoids cache-set conflicts.
  plan.place_stride = plan.block_tiles * plan.filled_channels + 16;
  plan.sums_stride = plan.block_tiles * kStripColumns + 16;
  plan.block_channels = std::min(kBlockChannels, geometry.channels);
  plan.weights_stride = plan.block_channels * std::min(kStripColumns, plan.filled_out_channels) + 16;
  plan.scratch_size =
      divide_up(plan.places * (plan.place_stride + plan.weights_stride + plan.sums_stride) + geometry.channels, 16) *
      16;
  return plan;
}

void convolve(const ProductLoops& loops, const WinogradPlan& plan, const WinogradOperands& operands, float* scratch) {
  WinogradConvolution(loops, plan, operands).compute(scratch);
}

bool read_winograd_geometry(const Tensor& in, const Tensor& weight, int64_t out_channels, int64_t tile,
                            ArrayRef<int64_t> padding, ArrayRef<int64_t> end_padding, WinogradGeometry& geometry) {
  constexpr int64_t kKernel[] = {1, kWinogradKernelSize, kWinogradKernelSize};
  constexpr int64_t kOnes[] = {1, 1, 1};
  const size_t count = in.dim() == 5 ? 3 : 2;
  const ArrayRef<int64_t> ones(kOnes, count);
  ET_LOG_AND_RETURN_IF_FALSE(read_axes(in, {{kKernel + 3 - count, count}, ones, padding, end_padding, ones}, geometry));
  ET_CHECK_OR_RETURN_FALSE(geometry.z.is_pointwise(), "expected no padding of the first dimension of volumes");
  ET_CHECK_OR_RETURN_FALSE(out_channels > 0 && out_channels <= std::numeric_limits<int32_t>::max(),
                           "the number of output channels is out of range: %lld", static_cast<long long>(out_channels));
  // With this limit, the sizes below do not overflow.
  constexpr double kMostElements = double(int64_t{1} << 48);
  ET_CHECK_OR_RETURN_FALSE(double(geometry.z.out_size) * double(geometry.y.out_size) * double(geometry.x.out_size) *
                                   double(std::max<int64_t>(in.size(1), out_channels)) * double(in.size(0)) <
                               kMostElements,
                           "the padded input is too large");
  geometry.images = in.size(0) * geometry.z.out_size;
  geometry.channels = in.size(1);
  geometry.out_channels = out_channels;
  geometry.tile_outputs = tile;
  ET_CHECK_OR_RETURN_FALSE(tile == 2 || tile == 4, "tiles have 2 or 4 outputs in a row, not %lld",
                           static_cast<long long>(tile));
  ET_CHECK_OR_RETURN_FALSE(weight.size(0) == 1 && has_panels(weight, 1, out_channels, kKernelPlaces * geometry.channels,
                                                             /*has_pairs=*/false),
                           "the shape of the weights does not match the numbers of channels: export the program again");
  return true;
}

}  // namespace rules_executorch::kernels
