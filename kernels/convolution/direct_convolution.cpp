#include "kernels/convolution/direct_convolution.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {

namespace {

/// Bytes of the copies of a part of a convolution, which stay in a processor's second cache.
constexpr int64_t kCopiesBytes = int64_t{1} << 18;
/// Multiplications that a thread takes at least.
constexpr int64_t kPartProducts = 8 * kGrain;
/// Threads for gradients of weights at most: all gradients of the result are copied for each.
constexpr int64_t kMaxGradientParts = 4;
/// Parts for each thread that keep all threads busy, where they are not shared evenly.
constexpr int64_t kFewParts = 8;
/// Output channels from which on gradients of weights fill vectors well enough.
constexpr int64_t kFewChannels = 4;
/// Output channels that are worth copies of their own.
constexpr int64_t kPartChannels = 16;
/// Products that are added up before they are added to the sum for a weight.
constexpr int64_t kDepth = 512;
constexpr int64_t kCacheLine = 64;
constexpr int64_t kMaxVectorBytes = 64;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t divide_down(int64_t a, int64_t b) { return a >= 0 ? a / b : -divide_up(-a, b); }

/// Copies some elements, mostly few.
inline void copy_bytes(const char* from, int64_t n, char* to) {
  constexpr int64_t kChunk = 32;
  if (n < kChunk || n > 16 * kChunk) {
    std::memcpy(to, from, n);
    return;
  }
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t start = std::min(i, n - kChunk);
    std::memcpy(to + start, from + start, kChunk);
  }
}

/// Clears some elements, mostly very few.
inline void clear_bytes(char* to, int64_t n) {
  if (n > 64) {
    std::memset(to, 0, n);
    return;
  }
  for (int64_t i = 0; i < n; i += sizeof(float)) {
    std::memset(to + i, 0, sizeof(float));
  }
}

/// One axis of the copies: output `o` and position `k` of the kernel meet in copy `k % copies` at `o + shift(k)`.
struct CopiedAxis {
  int64_t copies = 0;
  int64_t lead = 0;  // indices below 0 that outputs meet
  int64_t end;       // of the indices that outputs meet
  int64_t pitch;     // how many indices lie between neighbors of the axis before

  explicit CopiedAxis(const ConvolutionAxis& axis) {
    end = axis.out_size;
    if (axis.kernel_size > 0) {
      copies = std::min(axis.stride / std::gcd(axis.stride, axis.dilation), axis.kernel_size);
      const int64_t shifts[] = {shift(axis, 0), shift(axis, axis.kernel_size - 1)};
      lead = std::max<int64_t>(0, -std::min(shifts[0], shifts[1]));
      end += std::max<int64_t>(0, std::max(shifts[0], shifts[1]));
    }
    // What lies behind the last element of one row is what lies before the first element of the next one.
    pitch = end;
    for (int64_t copy = 0; copy < copies; ++copy) {
      pitch = std::max(pitch, count(axis, copy) + lead);
    }
  }

  static int64_t shift(const ConvolutionAxis& axis, int64_t k) {
    return divide_down(k * axis.dilation + axis.offset, axis.stride);
  }
  /// The input of index 0 of a copy; those of other indices are a stride apart.
  static int64_t first(const ConvolutionAxis& axis, int64_t copy) {
    return copy * axis.dilation + axis.offset - shift(axis, copy) * axis.stride;
  }
  /// How many elements of the input a copy has, from index 0 on.
  int64_t count(const ConvolutionAxis& axis, int64_t copy) const {
    return std::clamp<int64_t>(divide_up(axis.in_size - first(axis, copy), axis.stride), 0, end);
  }
};

/// A place in the copies that outputs have as well.
struct Place {
  int64_t z = 0;
  int64_t y = 0;
  int64_t x = 0;
};

/// What a convolution of some channels of one group of one batch element reads and writes.
struct Operands {
  const char* in;
  const char* weights;  // rows, one for each output channel
  int64_t weights_stride;
  const char* bias;
  char* out;
  int64_t out_channels;
};

/// The convolution of one group of one batch element.
class DirectConvolution {
 public:
  DirectConvolution(const ConvolutionLoops& loops, const Convolution& convolution)
      : loops_(loops),
        c_(convolution),
        axes_{CopiedAxis(c_.axes[0]), CopiedAxis(c_.axes[1]), CopiedAxis(c_.axes[2])},
        size_(static_cast<int64_t>(elementSize(loops.product.type))) {
    lead_ = (axes_[0].lead * axes_[1].pitch + axes_[1].lead) * axes_[2].pitch + axes_[2].lead;
    // A copy takes an odd number of cache lines: copies then do not compete for the same places in the cache.
    const int64_t numel = lead_ + ((axes_[0].end - 1) * axes_[1].pitch + axes_[1].end) * axes_[2].pitch;
    copy_bytes_ = (divide_up(numel * size_, kCacheLine) | 1) * kCacheLine;
  }

  /// Bytes of memory, as multiples of a cache line.
  int64_t memory_size() const {
    return offsets_size() + copies_size() + divide_up(row_bytes(), kCacheLine) * kCacheLine;
  }

  /// Whether the copies are not much larger than the input and the output.
  bool is_dense() const {
    double numel = 1;
    double copied = 1;
    for (int64_t d = 0; d < kMaxSpatialDims; ++d) {
      numel *= static_cast<double>(std::max(c_.axes[d].in_size, c_.axes[d].out_size));
      copied *= static_cast<double>(axes_[d].pitch + axes_[d].lead) * static_cast<double>(axes_[d].copies);
    }
    return copied < 4 * numel + 1024;
  }

  /// Prepares memory of this size for `compute`.
  void prepare(char* memory) const { find_offsets(reinterpret_cast<int64_t*>(memory)); }

  void compute(const Operands& operands, char* memory) const;

 protected:
  int64_t copies_per_channel() const { return axes_[0].copies * axes_[1].copies * axes_[2].copies; }
  int64_t copies_size() const { return c_.in_channels * copies_per_channel() * copy_bytes_; }
  int64_t offsets_size() const {
    return divide_up(c_.kernel_numel() * int64_t{sizeof(int64_t)}, kCacheLine) * kCacheLine;
  }
  int64_t row_bytes() const { return loops_.columns() * size_; }

  /// Places of outputs, from the first one's to the last one's.
  int64_t numel() const {
    return ((c_.axes[0].out_size - 1) * axes_[1].pitch + c_.axes[1].out_size - 1) * axes_[2].pitch +
           c_.axes[2].out_size;
  }

  void find_offsets(int64_t* offsets) const;
  void copy_input(const char* in, char* copies) const;
  void make_copy(const char* in, const int64_t* k, char* copy) const;
  void load_row(const char* from, int64_t step, int64_t n, char* row) const;
  void store(char* out, int64_t channels, Place& place, int64_t n, int64_t columns, char* sums) const;

  const ConvolutionLoops& loops_;
  const Convolution c_;
  CopiedAxis axes_[kMaxSpatialDims];
  int64_t size_;
  int64_t lead_;
  int64_t copy_bytes_;
};

/// Where, beginning with the first output's place in a channel's first copy, positions of the kernel meet inputs.
void DirectConvolution::find_offsets(int64_t* offsets) const {
  const ConvolutionAxis* axes = c_.axes;
  int64_t k[kMaxSpatialDims];
  for (k[0] = 0; k[0] < axes[0].kernel_size; ++k[0]) {
    for (k[1] = 0; k[1] < axes[1].kernel_size; ++k[1]) {
      for (k[2] = 0; k[2] < axes[2].kernel_size; ++k[2]) {
        int64_t copy = 0;
        int64_t index = 0;
        for (int64_t d = 0; d < kMaxSpatialDims; ++d) {
          copy = copy * axes_[d].copies + k[d] % axes_[d].copies;
          index = (d == 0 ? 0 : index * axes_[d].pitch) + CopiedAxis::shift(axes[d], k[d]);
        }
        *offsets++ = copy * (copy_bytes_ / size_) + index;
      }
    }
  }
}

void DirectConvolution::copy_input(const char* in, char* copies) const {
  char* copy = copies;
  int64_t k[kMaxSpatialDims];
  for (k[0] = 0; k[0] < axes_[0].copies; ++k[0]) {
    for (k[1] = 0; k[1] < axes_[1].copies; ++k[1]) {
      for (k[2] = 0; k[2] < axes_[2].copies; ++k[2], copy += copy_bytes_) {
        make_copy(in, k, copy);
      }
    }
  }
}

/// Makes the copies, one of each channel, for the remainders of position `k`.
void DirectConvolution::make_copy(const char* in, const int64_t* k, char* copy) const {
  const ConvolutionAxis* axes = c_.axes;
  const ConvolutionAxis& inner = axes[kMaxSpatialDims - 1];
  const int64_t channel_bytes = copies_per_channel() * copy_bytes_;
  const int64_t counts[] = {axes_[0].count(axes[0], k[0]), axes_[1].count(axes[1], k[1]),
                            axes_[2].count(axes[2], k[2])};
  const int64_t bytes = counts[2] * size_;
  const int64_t row_bytes = axes_[2].pitch * size_;
  const int64_t step = inner.stride * inner.in_stride;
  const bool is_direct = c_.dtype == loops_.product.type && step == size_;
  in += CopiedAxis::first(axes[0], k[0]) * axes[0].in_stride + CopiedAxis::first(axes[1], k[1]) * axes[1].in_stride +
        CopiedAxis::first(inner, k[2]) * inner.in_stride;
  for (int64_t channel = 0; channel < c_.in_channels; ++channel) {
    std::memset(copy + channel * channel_bytes, 0, lead_ * size_);
  }
  copy += lead_ * size_;
  for (int64_t z = 0; z < axes_[0].end; ++z) {
    const int64_t rows = z == axes_[0].end - 1 ? axes_[1].end : axes_[1].pitch;
    for (int64_t y = 0; y < rows; ++y, copy += row_bytes) {
      const bool is_inside = z < counts[0] && y < counts[1];
      const char* from = in + z * axes[0].stride * axes[0].in_stride + y * axes[1].stride * axes[1].in_stride;
      // All channels of a row together: they may be neighbors.
      char* row = copy;
      for (int64_t channel = 0; channel < c_.in_channels;
           ++channel, from += c_.in_channel_stride, row += channel_bytes) {
        if (!is_inside) {
          clear_bytes(row, row_bytes);
          continue;
        }
        if (is_direct) {
          copy_bytes(from, bytes, row);
        } else {
          load_row(from, step, counts[2], row);
        }
        clear_bytes(row + bytes, row_bytes - bytes);
      }
    }
  }
}

void DirectConvolution::load_row(const char* from, int64_t step, int64_t n, char* row) const {
  if (c_.dtype == ScalarType::Float && loops_.product.type == ScalarType::Float && step == 2 * size_) {
    const float* const source = reinterpret_cast<const float*>(from);
    float* const target = reinterpret_cast<float*>(row);
    vectorized_for(n, [=](int64_t i) { target[i] = source[2 * i]; });
    return;
  }
  for (int64_t i = 0; i < n; i += kBlockSize) {
    load_block(c_.dtype, from + i * step, step, loops_.product.type, row + i * size_, std::min(kBlockSize, n - i));
  }
}

void DirectConvolution::compute(const Operands& operands, char* memory) const {
  const int64_t* const offsets = reinterpret_cast<const int64_t*>(memory);
  char* const copies = memory + offsets_size();
  copy_input(operands.in, copies);
  // Outputs that a tile reads beyond the last one are not stored.
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
      // The last channel stands in for missing ones.
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

/// Stores the sums of `n` outputs from `place` on, of which some are none, and moves `place` behind them.
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
          copy_bytes(from, part * size_, to);
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

/// Adds what some outputs of one batch element give to the gradient of the weights of one group. A sum for some
/// weights, as many as a tile has channels, and for neighboring output channels is made of the copies of the input and
/// of `gradients`: of a row for each place of an output, with the gradient for each output channel.
class DirectWeightGradient final : public DirectConvolution {
 public:
  using DirectConvolution::DirectConvolution;

  /// Bytes of a row of `gradients` or of `totals`.
  int64_t row_size() const { return divide_up(c_.out_channels * size_, loops_.vector_bytes) * loops_.vector_bytes; }
  int64_t memory_size() const { return DirectConvolution::memory_size() + numel() * row_size(); }

  /// Adds to `totals`, which have a row for each position of the kernel of each input channel.
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
  char* const gradients = memory + DirectConvolution::memory_size();
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

/// How a convolution is divided into parts, each of some outputs of some channels of a group of a batch element.
struct Parts {
  const Convolution& c;
  int64_t axis = 0;           // the outermost one that can be divided
  int64_t length;             // outputs of this axis in a part
  int64_t channels;           // output channels in a part
  int64_t channel_parts = 1;  // parts of a group

  explicit Parts(const Convolution& convolution) : c(convolution), channels(c.out_channels) {
    while (axis < kMaxSpatialDims - 1 && c.axes[axis].out_size == 1) {
      ++axis;
    }
    length = c.axes[axis].out_size;
  }

  /// Parts of the axis, and of all that a part of the axis has.
  int64_t lengths() const { return divide_up(c.axes[axis].out_size, length); }
  int64_t per_length() const { return c.batch * c.groups * channel_parts; }
  int64_t count() const { return lengths() * per_length(); }

  void divide_channels(int64_t count) {
    channels = divide_up(c.out_channels, std::min(count, divide_up(c.out_channels, kPartChannels)));
    channel_parts = divide_up(c.out_channels, channels);
  }

  /// The convolution whose outputs are the i-th part of the axis.
  Convolution outputs(int64_t i) const {
    Convolution result = c;
    ConvolutionAxis& part = result.axes[axis];
    part.out_size = std::min(length, part.out_size - i * length);
    part.offset += i * length * part.stride;
    result.out += i * length * part.out_stride;
    // Inputs before all that these outputs meet are left out.
    const int64_t met = part.offset + std::min<int64_t>(0, (part.kernel_size - 1) * part.dilation);
    const int64_t skipped = std::max<int64_t>(0, divide_down(met, part.stride)) * part.stride;
    part.offset -= skipped;
    part.in_size -= skipped;
    result.in += skipped * part.in_stride;
    return result;
  }

  /// What the i-th of the parts with the outputs of `outputs` reads and writes. `weights` are rows of all channels.
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

/// Whether the weights of an output channel lie one after the other, in elements of dtype `type`.
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

/// Makes rows of weights, one for each output channel, from `first` to `last`.
void pack_weights(const Convolution& c, ScalarType type, int64_t first, int64_t last, char* target) {
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

/// Stores rows of elements of dtype `type`, one for each position of the kernel of each of `channels` input channels,
/// as weights of a group.
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

/// The bytes of memory for each of the parts of the outermost axis, which is divided where there are too many.
template <typename Direct>
int64_t divide_outputs(const ConvolutionLoops& loops, Parts& parts) {
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

}  // namespace

bool convolve_directly(const ConvolutionLoops& loops, const Convolution& c, ProductScratch& scratch) {
  if (loops.tiles == nullptr) {
    return false;
  }
  if (c.batch * c.groups * c.out_channels * c.out_numel() == 0) {
    return true;
  }
  Parts parts(c);
  if (!DirectConvolution(loops, parts.outputs(0)).is_dense()) {
    return false;
  }
  const int64_t part_size = divide_outputs<DirectConvolution>(loops, parts);
  const int64_t products = c.batch * c.groups * c.out_channels * c.out_numel() * c.in_channels * c.kernel_numel();
  int64_t workers = std::max<int64_t>(1, std::min(products / kPartProducts, thread_count()));
  if (parts.count() % workers != 0 && parts.count() < kFewParts * workers) {
    // The input is copied for each part of the channels.
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
                 [&](int64_t first, int64_t last) { pack_weights(c, type, first, last, memory); });
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

bool compute_weight_gradient_directly(const ConvolutionLoops& loops, const Convolution& c, const char* grad_out,
                                      char* grad_weight, ProductScratch& scratch) {
  if (loops.tiles == nullptr || c.batch * c.out_numel() == 0 || c.out_channels < kFewChannels) {
    return false;
  }
  Parts parts(c);
  if (!DirectConvolution(loops, parts.outputs(0)).is_dense()) {
    return false;
  }
  int64_t part_size = divide_outputs<DirectWeightGradient>(loops, parts);
  const int64_t row_size = DirectWeightGradient(loops, c).row_size();
  const int64_t products = c.batch * c.groups * c.out_channels * c.out_numel() * c.in_channels * c.kernel_numel();
  const int64_t workers =
      std::max<int64_t>(1, std::min({products / kPartProducts, kMaxGradientParts, c.in_channels, thread_count()}));
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
