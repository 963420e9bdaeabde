#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "kernels/convolution/winograd_transforms.h"
#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/layouts.h"
#include "kernels/gemm/matmul.h"
#include "kernels/math/activation.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/simd/simd.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/memory_format.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

using Floats = simd::Vector<float>;
constexpr int64_t kFloats = simd::kLanes<float>;

/// About how many bytes a block of tiles takes, transformed, with a strip's sums for them: they stay in the second
/// cache.
constexpr int64_t kBlockBytes = 1024 * 1024;
/// Tiles of a block are a multiple of this, so that the product's rows come in whole tiles of its own.
constexpr int64_t kTileStep = 8;
/// Multiplications that a thread takes at least.
constexpr int64_t kPartProducts = 8 * kGrain;

constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// A convolution of channels-last images by a kernel of 3 by 3, in tiles of outputs. The inputs of a tile are
/// transformed, so that each of them is multiplied by one weight of an input and an output channel; the sums over the
/// input channels are matrix products, one for each place in a tile. They are transformed to the outputs.
struct WinogradConvolution {
  const float* in;
  const float* weight;
  const float* bias;    // null for none
  const float* addend;  // null for none
  float* out;
  int64_t batch;
  int64_t channels;
  int64_t out_channels;
  int64_t in_height;
  int64_t in_width;
  int64_t out_height;
  int64_t out_width;
  int64_t top;   // zeros before the first row
  int64_t left;  // and column
  int64_t tile_outputs;
  Activation activation;
  float minimum;
  float maximum;

  int64_t places() const { return (tile_outputs + kWinogradKernelSize - 1) * (tile_outputs + kWinogradKernelSize - 1); }
  int64_t filled_channels() const { return divide_up(channels, kFloats) * kFloats; }
  int64_t filled_out_channels() const { return filled_columns(out_channels); }
  int64_t tiles_of_row() const { return divide_up(out_width, tile_outputs); }
  int64_t tiles_of_column() const { return divide_up(out_height, tile_outputs); }
  int64_t tiles() const { return batch * tiles_of_column() * tiles_of_row(); }

  /// Divides the tiles among threads, and those of each into blocks.
  void plan() {
    const int64_t cost = tiles() * places() * channels * out_channels;
    parts = std::max<int64_t>(1, std::min({divide_up(tiles(), kTileStep), cost / kPartProducts, thread_count()}));
    const int64_t tile_bytes = places() * (filled_channels() + kStripColumns) * sizeof(float);
    const int64_t most = divide_up(kBlockBytes, tile_bytes * kTileStep) * kTileStep;
    const int64_t of_part = divide_up(tiles(), parts);
    block_tiles = divide_up(divide_up(of_part, divide_up(of_part, most)), kTileStep) * kTileStep;
  }

  /// Floats between the tiles of one place and those of the next. The odd line keeps places in different sets of a
  /// cache.
  int64_t place_stride() const { return block_tiles * filled_channels() + 16; }
  int64_t sums_stride() const { return block_tiles * kStripColumns + 16; }

  /// Floats of memory for a part of the work.
  int64_t scratch_size() const { return divide_up(places() * (place_stride() + sums_stride()) + channels, 16) * 16; }

  void compute(float* scratch) const {
    parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        const int64_t end = (part + 1) * tiles() / parts;
        for (int64_t tile = part * tiles() / parts; tile < end; tile += block_tiles) {
          const int64_t count = std::min(block_tiles, end - tile);
          if (tile_outputs == 2) {
            compute_block<2>(tile, count, scratch + part * scratch_size());
          } else {
            compute_block<4>(tile, count, scratch + part * scratch_size());
          }
        }
      }
    });
  }

  int64_t parts;
  int64_t block_tiles;

 private:
  /// The first output of a tile.
  struct Corner {
    int64_t image;
    int64_t y;
    int64_t x;
  };

  Corner corner(int64_t tile) const {
    const int64_t row = tile / tiles_of_row();
    return {row / tiles_of_column(), row % tiles_of_column() * tile_outputs, tile % tiles_of_row() * tile_outputs};
  }

  template <int kOutputs>
  void compute_block(int64_t first, int64_t count, float* scratch) const {
    float* const inputs = scratch;
    float* const sums = inputs + places() * place_stride();
    float* const zeros = sums + places() * sums_stride();
    std::fill_n(zeros, channels, 0.0f);
    for (int64_t i = 0; i < count; ++i) {
      transform_inputs<kOutputs>(corner(first + i), zeros, inputs + i * filled_channels());
    }
    for (int64_t channel = 0; channel < out_channels; channel += kStripColumns) {
      const int64_t width = std::min(kStripColumns, filled_out_channels() - channel);
      multiply(inputs, count, channel, width, sums);
      for (int64_t i = 0; i < count; ++i) {
        transform_sums<kOutputs>(sums + i * width, channel, std::min(width, out_channels - channel), corner(first + i));
      }
    }
  }

  /// Transforms what a tile meets: zeros outside of the image.
  template <int kOutputs>
  void transform_inputs(const Corner& corner, const float* zeros, float* target) const {
    constexpr int kInputs = WinogradTransform<kOutputs>::kInputs;
    const float* pixels[kInputs][kInputs];
    for (int64_t i = 0; i < kInputs; ++i) {
      const int64_t y = corner.y - top + i;
      for (int64_t j = 0; j < kInputs; ++j) {
        const int64_t x = corner.x - left + j;
        const bool is_inside = y >= 0 && y < in_height && x >= 0 && x < in_width;
        pixels[i][j] = is_inside ? in + ((corner.image * in_height + y) * in_width + x) * channels : zeros;
      }
    }
    for (int64_t channel = 0; channel < channels; channel += kFloats) {
      const int64_t n = channels - channel;
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
          simd::store(target + (i * kInputs + j) * place_stride() + channel, transformed[j]);
        }
      }
    }
  }

  /// Multiplies the inputs of some tiles by the weights of a strip, at each place.
  void multiply(const float* inputs, int64_t count, int64_t channel, int64_t width, float* sums) const {
    const ProductLoops& loops = product_loops<float>();
    const int64_t k = places() * channels;
    PanelProduct product{};
    product.totals_stride = width;
    product.a_stride = filled_channels();
    product.rows = count;
    product.columns = width;
    product.k = channels;
    product.replaces_totals = true;
    for (int64_t place = 0; place < places(); ++place) {
      product.totals = sums + place * sums_stride();
      product.a = inputs + place * place_stride();
      product.b = weight + channel * k + place * channels * kFloatPanelColumns;
      add_panels<float>(loops.add_panel, product, k * kFloatPanelColumns);
    }
  }

  /// Transforms the sums of a tile to its outputs in `n` channels, and writes those that are the image's.
  template <int kOutputs>
  void transform_sums(const float* sums, int64_t channel, int64_t n, const Corner& corner) const {
    constexpr int kInputs = WinogradTransform<kOutputs>::kInputs;
    const int64_t rows = std::min<int64_t>(kOutputs, out_height - corner.y);
    const int64_t columns = std::min<int64_t>(kOutputs, out_width - corner.x);
    const int64_t at = ((corner.image * out_height + corner.y) * out_width + corner.x) * out_channels + channel;
    for (int64_t c = 0; c < n; c += kFloats) {
      const int64_t lanes = n - c;
      Floats transformed[kInputs][kOutputs];
#pragma GCC unroll 6
      for (int j = 0; j < kInputs; ++j) {
        Floats values[kInputs];
#pragma GCC unroll 6
        for (int i = 0; i < kInputs; ++i) {
          values[i] = simd::load(sums + (i * kInputs + j) * sums_stride() + c);
        }
        WinogradTransform<kOutputs>::of_sums(values, transformed[j]);
      }
      const Floats biases = bias != nullptr ? simd::load_first(bias + channel + c, lanes) : Floats{};
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
          const int64_t pixel = at + (i * out_width + j) * out_channels + c;
          Floats total = outputs[j] + biases;
          if (addend != nullptr) {
            total += simd::load_first(addend + pixel, lanes);
          }
          simd::store_first(out + pixel, simd::clamp(total, minimum, maximum), lanes);
        }
      }
    }
    if (activation.apply != nullptr) {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          activation(out + at + (i * out_width + j) * out_channels, n);
        }
      }
    }
  }
};

bool read_shape(const Tensor& in, const Tensor& weight, int64_t out_channels, ArrayRef<int64_t> padding,
                ArrayRef<int64_t> end_padding, WinogradConvolution& convolution) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  ET_CHECK_OR_RETURN_FALSE(in.dim() == 4 && in.size(1) > 0, "input is no batch of images");
  ET_CHECK_OR_RETURN_FALSE(padding.size() == 2 && end_padding.size() == 2,
                           "lists have a number for each of two dimensions");
  ET_CHECK_OR_RETURN_FALSE(out_channels > 0 && out_channels <= kMost, "%lld output channels",
                           static_cast<long long>(out_channels));
  int64_t sizes[2];
  for (int d = 0; d < 2; ++d) {
    for (const int64_t width : {padding[d], end_padding[d]}) {
      ET_CHECK_OR_RETURN_FALSE(width >= 0 && width <= kMost, "padding is not negative");
    }
    sizes[d] = in.size(d + 2) + padding[d] + end_padding[d] - kWinogradKernelSize + 1;
    ET_CHECK_OR_RETURN_FALSE(sizes[d] > 0, "kernel is larger than the padded input");
    ET_CHECK_OR_RETURN_FALSE(sizes[d] < kMost, "the padded input is too large");
  }
  // So that no size below overflows.
  constexpr double kMostElements = double(int64_t{1} << 48);
  ET_CHECK_OR_RETURN_FALSE(
      double(sizes[0]) * double(sizes[1]) * double(std::max<int64_t>(in.size(1), out_channels)) * double(in.size(0)) <
          kMostElements,
      "the padded input is too large");
  convolution.batch = in.size(0);
  convolution.channels = in.size(1);
  convolution.out_channels = out_channels;
  convolution.in_height = in.size(2);
  convolution.in_width = in.size(3);
  convolution.out_height = sizes[0];
  convolution.out_width = sizes[1];
  convolution.top = padding[0];
  convolution.left = padding[1];
  for (const int64_t outputs : {2, 4}) {
    convolution.tile_outputs = outputs;
    if (has_panels(weight, 0, out_channels, convolution.places() * convolution.channels, /*has_pairs=*/false)) {
      return true;
    }
  }
  ET_LOG(Error,
         "weights have another shape than those that are packed for tiles of this size: export the program anew");
  return false;
}

}  // namespace

Tensor& winograd_convolution_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                                 const std::optional<Tensor>& bias, const std::optional<Tensor>& addend,
                                 int64_t out_channels, ArrayRef<int64_t> padding, ArrayRef<int64_t> end_padding,
                                 std::string_view activation, double minimum, double maximum, Tensor& out) {
  // Check
  WinogradConvolution convolution{};
  ET_KERNEL_CHECK(ctx, in.scalar_type() == ScalarType::Float, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, weight, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, read_shape(in, weight, out_channels, padding, end_padding, convolution), InvalidArgument, out);
  ET_KERNEL_CHECK_MSG(ctx, is_channels_last(in), InvalidArgument, out, "the input is not channels-last");
  ET_KERNEL_CHECK(
      ctx,
      !bias.has_value() || (tensors_have_same_dtype(*bias, out) && bias->dim() == 1 && bias->size(0) == out_channels),
      InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, find_activation<float>(activation, minimum, maximum, convolution.activation), InvalidArgument,
                  out);

  // Resize
  const Tensor::SizesType sizes[] = {
      static_cast<Tensor::SizesType>(in.size(0)), static_cast<Tensor::SizesType>(out_channels),
      static_cast<Tensor::SizesType>(convolution.out_height), static_cast<Tensor::SizesType>(convolution.out_width)};
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
  convolution.in = static_cast<const float*>(in.const_data_ptr());
  convolution.weight = static_cast<const float*>(weight.const_data_ptr());
  convolution.bias = bias.has_value() ? static_cast<const float*>(bias->const_data_ptr()) : nullptr;
  convolution.addend = addend.has_value() ? static_cast<const float*>(addend->const_data_ptr()) : nullptr;
  convolution.out = static_cast<float*>(out.mutable_data_ptr());
  convolution.plan();
  const auto memory = ctx.allocate_temp(convolution.parts * convolution.scratch_size() * sizeof(float),
                                        /*alignment=*/64);
  ET_KERNEL_CHECK_MSG(ctx, memory.ok(), MemoryAllocationFailed, out, "no memory for a convolution");
  convolution.compute(static_cast<float*>(*memory));
  return out;
}

}  // namespace torch::executor::native
