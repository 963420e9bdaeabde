#include <algorithm>
#include <cstring>

#include "kernels/convolution/direct_convolution.h"
#include "kernels/convolution/direct_parts.h"
#include "kernels/convolution/input_copies.h"
#include "kernels/math/divide_up.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {
namespace {

/// The largest number of threads. Each thread copies all gradients of the result.
constexpr int64_t kMaxGradientParts = 4;
/// The number of output channels from which on the gradients of weights fill vectors well enough.
constexpr int64_t kFewChannels = 4;
/// The number of products that are added before their sum is added to the total of a weight.
constexpr int64_t kDepth = 512;

/// Adds the contribution of several outputs of one batch element to the gradient of the weights of one group. A tile
/// has the sums of several weights, as many as a tile has channels, and of neighboring output channels. It multiplies
/// the copies of the input by `gradients`, which has a row for each output position and a column for each output
/// channel.
class DirectWeightGradient final : public InputCopies {
 public:
  using InputCopies::InputCopies;

  /// The number of bytes of a row of `gradients` or `totals`.
  int64_t row_size() const { return divide_up(c_.out_channels * size_, loops_.vector_bytes) * loops_.vector_bytes; }
  int64_t memory_size() const { return InputCopies::memory_size() + numel() * row_size(); }

  /// Adds to `totals`, which has a row for each kernel position of each input channel.
  void compute(const char* in, const char* grad_out, char* totals, char* memory) const;

 private:
  void load_gradients(const char* grad_out, char* gradients) const;
};

void DirectWeightGradient::load_gradients(const char* grad_out, char* gradients) const {
  const ConvolutionAxis* axes = c_.axes;
  const ConvolutionAxis& inner = axes[kMaxSpatialDims - 1];
  std::memset(gradients, 0, numel() * row_size());
  for (int64_t z = 0; z < axes[0].out_size; ++z) {
    for (int64_t y = 0; y < axes[1].out_size; ++y) {
      char* const rows = gradients + (z * axes_[1].pitch + y) * axes_[2].pitch * row_size();
      const char* from = grad_out + z * axes[0].out_stride + y * axes[1].out_stride;
      for (int64_t channel = 0; channel < c_.out_channels; ++channel, from += c_.out_channel_stride) {
        for (int64_t x = 0; x < inner.out_size; x += kBlockSize) {
          const int64_t n = std::min(kBlockSize, inner.out_size - x);
          Block block;
          load_block(c_.dtype, from + x * inner.out_stride, inner.out_stride, loops_.product.type, block.data, n);
          copy_elements(block.data, size_, rows + x * row_size() + channel * size_, row_size(), size_, n);
        }
      }
    }
  }
}

void DirectWeightGradient::compute(const char* in, const char* grad_out, char* totals, char* memory) const {
  const int64_t* const offsets = reinterpret_cast<const int64_t*>(memory);
  char* const copies = memory + offsets_size();
  char* const gradients = memory + InputCopies::memory_size();
  copy_input(in, copies);
  load_gradients(grad_out, gradients);
  const int64_t kernel_numel = c_.kernel_numel();
  const int64_t rows = c_.in_channels * kernel_numel;
  alignas(kCacheLine) char sums[kTileChannels[0] * kTileVectors * kMaxVectorBytes];
  const char zeros[kTileChannels[0] * sizeof(double)] = {};
  const int64_t no_offset = 0;
  for (int64_t first = 0; first < numel(); first += kDepth) {
    const int64_t depth = std::min(kDepth, numel() - first);
    for (int64_t row = 0; row < rows; row += kTileChannels[0]) {
      const int64_t count = std::min<int64_t>(kTileChannels[0], rows - row);
      const void* inputs[kTileChannels[0]];
      for (int64_t i = 0; i < kTileChannels[0]; ++i) {
        const int64_t t = row + std::min(i, count - 1);
        inputs[i] = copies + t / kernel_numel * copies_per_channel() * copy_bytes_ +
                    (lead_ + offsets[t % kernel_numel] + first) * size_;
      }
      for (int64_t j = 0; j < row_size(); j += kTileVectors * loops_.vector_bytes) {
        const int64_t bytes = std::min(kTileVectors * loops_.vector_bytes, row_size() - j);
        loops_.tiles[bytes / loops_.vector_bytes - 1](
            {gradients + first * row_size() + j, depth, row_size() / size_, &no_offset, 1, inputs, zeros, sums});
        for (int64_t i = 0; i < count; ++i) {
          loops_.product.rows.add_rows(totals + (row + i) * row_size() + j, loops_.one, sums + i * bytes, 0, 1,
                                       bytes / size_);
        }
      }
    }
  }
}

/// Stores rows of elements of dtype `type` as weights of a group. There is one row for each kernel position of each of
/// `channels` input channels.
void store_weights(const Convolution& c, ScalarType type, const char* rows, int64_t row_size, char* target,
                   int64_t channels) {
  const ConvolutionAxis* axes = c.axes;
  const int64_t size = static_cast<int64_t>(elementSize(type));
  for (int64_t channel = 0; channel < channels; ++channel, target += c.weight_in_stride) {
    for (int64_t z = 0; z < axes[0].kernel_size; ++z) {
      for (int64_t y = 0; y < axes[1].kernel_size; ++y) {
        for (int64_t x = 0; x < axes[2].kernel_size; ++x, rows += row_size) {
          char* const to = target + z * axes[0].weight_stride + y * axes[1].weight_stride + x * axes[2].weight_stride;
          for (int64_t i = 0; i < c.out_channels; i += kBlockSize) {
            store_block(type, rows + i * size, c.dtype, to + i * c.weight_out_stride, c.weight_out_stride,
                        std::min(kBlockSize, c.out_channels - i));
          }
        }
      }
    }
  }
}

}  // namespace

bool compute_weight_gradient_directly(const ConvolutionLoops& loops, const Convolution& c, const char* grad_out,
                                      char* grad_weight, ProductScratch& scratch) {
  if (loops.tiles == nullptr || c.batch * c.out_numel() == 0 || c.out_channels < kFewChannels) {
    return false;
  }
  DirectParts parts(c);
  if (!InputCopies(loops, parts.outputs(0)).is_dense()) {
    return false;
  }
  int64_t part_size = divide_outputs<DirectWeightGradient>(loops, parts);
  const int64_t row_size = DirectWeightGradient(loops, c).row_size();
  const int64_t products = c.batch * c.groups * c.out_channels * c.out_numel() * c.in_channels * c.kernel_numel();
  const int64_t workers = std::max<int64_t>(
      1, std::min({products / kDirectPartProducts, kMaxGradientParts, c.in_channels, thread_count()}));
  const int64_t channels = divide_up(c.in_channels, workers);
  const int64_t totals_size = divide_up(channels * c.kernel_numel() * row_size, kCacheLine) * kCacheLine;
  part_size += totals_size;
  char* const memory = scratch.get(workers * part_size);
  if (memory == nullptr) {
    return false;
  }
  parallel_for(0, workers, 1, [&](int64_t first, int64_t last) {
    for (int64_t worker = first; worker < last; ++worker) {
      char* const totals = memory + worker * part_size;
      const int64_t first_channel = worker * channels;
      const int64_t count = std::min(channels, c.in_channels - first_channel);
      for (int64_t group = 0; group < c.groups && count > 0; ++group) {
        std::memset(totals, 0, totals_size);
        for (int64_t i = 0; i < parts.lengths(); ++i) {
          Convolution outputs = parts.outputs(i);
          const int64_t out_offset = i * parts.length * c.axes[parts.axis].out_stride;
          outputs.in_channels = count;
          const DirectWeightGradient gradient(loops, outputs);
          gradient.prepare(totals + totals_size);
          for (int64_t n = 0; n < c.batch; ++n) {
            gradient.compute(
                outputs.in + n * c.in_batch_stride + (group * c.in_channels + first_channel) * c.in_channel_stride,
                grad_out + out_offset + n * c.out_batch_stride + group * c.out_channels * c.out_channel_stride, totals,
                totals + totals_size);
          }
        }
        store_weights(c, loops.product.type, totals, row_size,
                      grad_weight + group * c.weight_group_stride + first_channel * c.weight_in_stride, count);
      }
    }
  });
  return true;
}

}  // namespace rules_executorch::kernels
