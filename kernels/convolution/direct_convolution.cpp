#include "kernels/convolution/direct_convolution.h"

#include <algorithm>
#include <cstring>

#include "kernels/convolution/direct_parts.h"
#include "kernels/convolution/input_copies.h"
#include "kernels/math/divide_up.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {
namespace {

/// The number of parts for each thread from which on all threads stay busy without an even division.
constexpr int64_t kFewParts = 8;

/// A position in the copies, as output coordinates. The copies have more positions than the output.
struct Place {
  int64_t z = 0;
  int64_t y = 0;
  int64_t x = 0;
};

/// The convolution of one group of one batch element.
class DirectConvolution final : public InputCopies {
 public:
  using InputCopies::InputCopies;

  void compute(const Operands& operands, char* memory) const;

 private:
  void store(char* out, int64_t channels, Place& place, int64_t n, int64_t columns, char* sums) const;
};

void DirectConvolution::compute(const Operands& operands, char* memory) const {
  const int64_t* const offsets = reinterpret_cast<const int64_t*>(memory);
  char* const copies = memory + offsets_size();
  copy_input(operands.in, copies);
  // A tile may read past the last output. The sums of these positions are not stored.
  std::memset(copies + copies_size(), 0, row_bytes());
  const int64_t numel = this->numel();
  const int64_t lanes = loops_.vector_bytes / size_;
  const int64_t columns = loops_.columns();
  alignas(kCacheLine) char sums[kTileChannels[0] * kTileVectors * kMaxVectorBytes];
  alignas(16) char biases[kTileChannels[0] * sizeof(double)] = {};
  const void* weights[kTileChannels[0]];
  int64_t channels = 0;
  for (int64_t channel = 0; channel < operands.out_channels; channel += channels) {
    channels = std::min<int64_t>(kTileChannels[0], operands.out_channels - channel);
    int tiles = 0;
    while (tiles < 2 && kTileChannels[tiles + 1] >= channels) {
      ++tiles;
    }
    if (operands.bias != nullptr) {
      const int64_t bias_size = static_cast<int64_t>(elementSize(c_.dtype));
      load_block(c_.dtype, operands.bias + channel * bias_size, bias_size, loops_.product.type, biases, channels);
    }
    for (int64_t i = 0; i < kTileChannels[tiles]; ++i) {
      // The last channel replaces missing channels.
      weights[i] = operands.weights + (channel + std::min(i, channels - 1)) * operands.weights_stride;
    }
    Place place;
    for (int64_t first = 0; first < numel; first += columns) {
      const int64_t n = std::min(columns, numel - first);
      const int64_t vectors = n == columns ? kTileVectors : divide_up(n, lanes);
      loops_.tiles[tiles * kTileVectors + vectors - 1]({copies + (lead_ + first) * size_, c_.in_channels,
                                                        copies_per_channel() * (copy_bytes_ / size_), offsets,
                                                        c_.kernel_numel(), weights, biases, sums});
      c_.activation(sums, channels * vectors * lanes);
      store(operands.out + channel * c_.out_channel_stride, channels, place, n, vectors * lanes, sums);
    }
  }
}

/// Stores the sums of `n` positions from `place` on, and moves `place` behind them. Positions outside of the output are
/// not stored.
void DirectConvolution::store(char* out, int64_t channels, Place& place, int64_t n, int64_t columns, char* sums) const {
  const ConvolutionAxis* axes = c_.axes;
  const bool is_direct = c_.dtype == loops_.product.type && axes[2].out_stride == size_;
  for (int64_t offset = 0; offset < n;) {
    const int64_t part = std::min(n - offset, axes[2].out_size - place.x);
    if (part > 0 && place.y < axes[1].out_size) {
      char* to = out + place.z * axes[0].out_stride + place.y * axes[1].out_stride + place.x * axes[2].out_stride;
      char* from = sums + offset * size_;
      for (int64_t i = 0; i < channels; ++i, to += c_.out_channel_stride, from += columns * size_) {
        if (is_direct) {
          copy_row(from, part * size_, to);
        } else {
          store_block(loops_.product.type, from, c_.dtype, to, axes[2].out_stride, part);
        }
      }
    }
    const int64_t passed = std::min(n - offset, axes_[2].pitch - place.x);
    offset += passed;
    place.x += passed;
    if (place.x == axes_[2].pitch) {
      place.x = 0;
      if (++place.y == axes_[1].pitch) {
        place.y = 0;
        ++place.z;
      }
    }
  }
}

/// Whether the weights of an output channel are contiguous and of dtype `type`.
bool has_dense_weights(const Convolution& c, ScalarType type) {
  int64_t expected = static_cast<int64_t>(elementSize(type));
  for (int64_t d = kMaxSpatialDims - 1; d >= 0; --d) {
    if (c.axes[d].kernel_size != 1 && c.axes[d].weight_stride != expected) {
      return false;
    }
    expected *= c.axes[d].kernel_size;
  }
  return c.dtype == type && (c.in_channels == 1 || c.weight_in_stride == expected);
}

/// Packs the weights of the output channels `first` to `last` (exclusive) into rows, one for each channel.
void pack_some_weights(const Convolution& c, ScalarType type, int64_t first, int64_t last, char* target) {
  const ConvolutionAxis* axes = c.axes;
  const int64_t size = static_cast<int64_t>(elementSize(type));
  const int64_t row = c.in_channels * c.kernel_numel() * size;
  for (int64_t channel = first; channel < last; ++channel) {
    const char* weight =
        c.weight + channel / c.out_channels * c.weight_group_stride + channel % c.out_channels * c.weight_out_stride;
    char* to = target + channel * row;
    for (int64_t z = 0; z < axes[0].kernel_size; ++z) {
      for (int64_t y = 0; y < axes[1].kernel_size; ++y) {
        for (int64_t x = 0; x < axes[2].kernel_size; ++x, to += size) {
          const char* from = weight + z * axes[0].weight_stride + y * axes[1].weight_stride + x * axes[2].weight_stride;
          for (int64_t i = 0; i < c.in_channels; i += kBlockSize) {
            const int64_t n = std::min(kBlockSize, c.in_channels - i);
            Block block;
            load_block(c.dtype, from + i * c.weight_in_stride, c.weight_in_stride, type, block.data, n);
            copy_elements(block.data, size, to + i * c.kernel_numel() * size, c.kernel_numel() * size, size, n);
          }
        }
      }
    }
  }
}

}  // namespace

bool convolve_directly(const ConvolutionLoops& loops, const Convolution& c, ProductScratch& scratch) {
  if (loops.tiles == nullptr) {
    return false;
  }
  if (c.batch * c.groups * c.out_channels * c.out_numel() == 0) {
    return true;
  }
  DirectParts parts(c);
  if (!DirectConvolution(loops, parts.outputs(0)).is_dense()) {
    return false;
  }
  const int64_t part_size = divide_outputs<DirectConvolution>(loops, parts);
  const int64_t products = c.batch * c.groups * c.out_channels * c.out_numel() * c.in_channels * c.kernel_numel();
  int64_t workers = std::max<int64_t>(1, std::min(products / kDirectPartProducts, thread_count()));
  if (parts.count() % workers != 0 && parts.count() < kFewParts * workers) {
    // Each part of the channels copies the input again.
    parts.divide_channels(workers);
  }
  workers = std::min(workers, parts.count());
  const ScalarType type = loops.product.type;
  const int64_t row_bytes = c.in_channels * c.kernel_numel() * static_cast<int64_t>(elementSize(type));
  const int64_t channels = c.groups * c.out_channels;
  ConstMatrices weights{c.weight, c.dtype, c.weight_group_stride, c.weight_out_stride, 0};
  const bool is_packed = !has_dense_weights(c, type);
  const int64_t weights_size = is_packed ? divide_up(channels * row_bytes, kCacheLine) * kCacheLine : 0;
  char* const memory = scratch.get(weights_size + workers * part_size);
  if (memory == nullptr) {
    return false;
  }
  if (is_packed) {
    parallel_for(0, channels, divide_up(kGrain, std::max<int64_t>(1, row_bytes)),
                 [&](int64_t first, int64_t last) { pack_some_weights(c, type, first, last, memory); });
    weights = {memory, type, c.out_channels * row_bytes, row_bytes, 0};
  }
  const int64_t count = parts.count();
  parallel_for(0, workers, 1, [&](int64_t first, int64_t last) {
    for (int64_t worker = first; worker < last; ++worker) {
      char* const part_memory = memory + weights_size + worker * part_size;
      const int64_t end = (worker + 1) * count / workers;
      for (int64_t i = worker * count / workers; i < end;) {
        const Convolution outputs = parts.outputs(i / parts.per_length());
        const DirectConvolution convolution(loops, outputs);
        convolution.prepare(part_memory);
        const int64_t next = std::min(end, (i / parts.per_length() + 1) * parts.per_length());
        for (; i < next; ++i) {
          convolution.compute(parts.operands(outputs, weights, i % parts.per_length()), part_memory);
        }
      }
    }
  });
  return true;
}

}  // namespace rules_executorch::kernels
