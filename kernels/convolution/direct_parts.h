#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/convolution/convolution_tile.h"
#include "kernels/convolution/geometry.h"
#include "kernels/convolution/input_copies.h"
#include "kernels/gemm/matmul.h"
#include "kernels/math/divide_up.h"
#include "kernels/parallel/grain.h"

namespace rules_executorch::kernels {

/// The number of bytes of the copies of a part of a convolution. The copies stay in the L2 cache.
inline constexpr int64_t kCopiesBytes = int64_t{1} << 18;
/// The lowest number of multiplications for a thread.
inline constexpr int64_t kDirectPartProducts = 8 * kGrain;
/// The number of output channels from which on a separate copy of the input pays off.
inline constexpr int64_t kPartChannels = 16;
inline constexpr int64_t kMaxVectorBytes = 64;

/// The operands of a convolution of several channels of one group of one batch element.
struct Operands {
  const char* in;
  const char* weights;  // one row for each output channel
  int64_t weights_stride;
  const char* bias;
  char* out;
  int64_t out_channels;
};

/// The division of a direct convolution into parts. A part has several outputs of several channels of one group of one
/// batch element.
struct DirectParts {
  const Convolution& c;
  int64_t axis = 0;           // the outermost axis that can be divided
  int64_t length;             // outputs of `axis` in a part
  int64_t channels;           // output channels in a part
  int64_t channel_parts = 1;  // parts of a group

  explicit DirectParts(const Convolution& convolution) : c(convolution), channels(c.out_channels) {
    while (axis < kMaxSpatialDims - 1 && c.axes[axis].out_size == 1) {
      ++axis;
    }
    length = c.axes[axis].out_size;
  }

  /// The number of parts of the axis, and the number of parts for each part of the axis.
  int64_t lengths() const { return divide_up(c.axes[axis].out_size, length); }
  int64_t per_length() const { return c.batch * c.groups * channel_parts; }
  int64_t count() const { return lengths() * per_length(); }

  void divide_channels(int64_t count) {
    channels = divide_up(c.out_channels, std::min(count, divide_up(c.out_channels, kPartChannels)));
    channel_parts = divide_up(c.out_channels, channels);
  }

  /// The convolution with the outputs of the i-th part of the axis.
  Convolution outputs(int64_t i) const {
    Convolution result = c;
    ConvolutionAxis& part = result.axes[axis];
    part.out_size = std::min(length, part.out_size - i * length);
    part.offset += i * length * part.stride;
    result.out += i * length * part.out_stride;
    // Skips the inputs before the first one that these outputs need.
    const int64_t met = part.offset + std::min<int64_t>(0, (part.kernel_size - 1) * part.dilation);
    const int64_t skipped = std::max<int64_t>(0, divide_down(met, part.stride)) * part.stride;
    part.offset -= skipped;
    part.in_size -= skipped;
    result.in += skipped * part.in_stride;
    return result;
  }

  /// The operands of the i-th part with the outputs of `outputs`. `weights` has a row for each channel.
  Operands operands(const Convolution& outputs, const ConstMatrices& weights, int64_t i) const {
    const int64_t first = i % channel_parts * channels;
    i /= channel_parts;
    const int64_t group = i % c.groups;
    const int64_t n = i / c.groups;
    const int64_t channel = group * c.out_channels + first;
    return {outputs.in + n * c.in_batch_stride + group * c.in_channels * c.in_channel_stride,
            weights.at(group, first, 0),
            weights.row_stride,
            c.bias == nullptr ? nullptr : c.bias + channel * static_cast<int64_t>(elementSize(c.dtype)),
            outputs.out + n * c.out_batch_stride + channel * c.out_channel_stride,
            std::min(channels, c.out_channels - first)};
  }
};

/// Divides the outermost axis until the memory of a part is small enough. Returns the bytes of memory of each part.
template <typename Direct>
int64_t divide_outputs(const ConvolutionLoops& loops, DirectParts& parts) {
  const auto size_of_part = [&] {
    int64_t size = 0;
    for (int64_t i = 0; i < parts.lengths(); ++i) {
      size = std::max(size, Direct(loops, parts.outputs(i)).memory_size());
    }
    return size;
  };
  const int64_t size = size_of_part();
  if (size <= kCopiesBytes) {
    return size;
  }
  parts.length = divide_up(parts.length, divide_up(size, kCopiesBytes));
  return size_of_part();
}

}  // namespace rules_executorch::kernels
