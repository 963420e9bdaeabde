#include <algorithm>
#include <cstring>

#include "kernels/gemm/integer_product.h"
#include "kernels/gemm/matmul.h"
#include "kernels/math/byte_table.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/simd/run_time.h"
#include "kernels/simd/simd.h"
#include "kernels/simd/width.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/dim_order.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Bytes of a block of what the kernel meets at some pixels: a part of a cache.
constexpr int64_t kBlockBytes = int64_t{1} << 17;
/// Pixels that are computed together: their elements stay in a cache while panels of weights pass. Tiles fill them.
constexpr int64_t kPixelBlock = 72;
constexpr int64_t kPixelStep = 12;
/// Multiplications that a thread takes at least. One of a depthwise convolution takes as long as some others.
constexpr int64_t kPartProducts = 16 * kGrain;
constexpr int64_t kDepthwiseCost = 8;
/// Bytes of a copy of a few.
constexpr int64_t kShortCopy = 16;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// One spatial dimension.
struct Axis {
  int64_t in;
  int64_t kernel;
  int64_t out;
  int64_t stride;
  int64_t before;
  int64_t after;
  int64_t dilation;

  bool is_pointwise() const { return kernel == 1 && stride == 1 && before == 0 && after == 0; }

  bool init(int64_t size, int64_t kernel_size, int64_t step, int64_t padding_before, int64_t padding_after,
            int64_t between) {
    *this = {size, kernel_size, 0, step, padding_before, padding_after, between};
    if (in < 1 || kernel < 1 || stride < 1 || before < 0 || after < 0 || dilation < 1) {
      return false;
    }
    const int64_t rest = before + in + after - (kernel - 1) * dilation - 1;
    out = rest / stride + 1;
    return rest >= 0;
  }
};

/// One of the operator's calls. Channels of a pixel are neighbors.
struct Call {
  Axis y;
  Axis x;
  int64_t batch;
  int64_t groups;
  int64_t in_channels;   // of a group
  int64_t out_channels;  // of a group
  SumConversion conversion;
  const uint8_t* in;
  const char* weight;
  char* out;
  int64_t out_size;  // bytes of an element
  uint8_t bits;
  uint8_t padding;  // as an element of the input

  int64_t all_in_channels() const { return groups * in_channels; }
  int64_t all_out_channels() const { return groups * out_channels; }
  int64_t taps() const { return y.kernel * x.kernel; }
  bool is_depthwise() const { return in_channels == 1 && out_channels == 1; }

  /// Groups of weights of a channel: of a depthwise convolution, those of some rows of each column of the kernel.
  int64_t weight_groups() const {
    return is_depthwise() ? x.kernel * divide_up(y.kernel, kPanelDepth) : divide_up(in_channels * taps(), kPanelDepth);
  }
  int64_t weight_panels() const {
    return is_depthwise() ? divide_up(groups, kPanelColumns) : groups * divide_up(out_channels, kPanelColumns);
  }

  /// Reads sizes from the operator's arguments; false where there is no such convolution.
  bool init(const Tensor& input, int64_t channels, ArrayRef<int64_t> kernel, ArrayRef<int64_t> stride,
            ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation, int64_t group_count) {
    if (input.dim() != 4 || kernel.size() != 2 || stride.size() != 2 || padding.size() != 4 || dilation.size() != 2 ||
        group_count < 1) {
      return false;
    }
    batch = input.sizes()[0];
    groups = group_count;
    in_channels = input.sizes()[1] / groups;
    out_channels = channels / groups;
    return in_channels >= 1 && out_channels >= 1 && input.sizes()[1] == in_channels * groups &&
           channels == out_channels * groups &&
           y.init(input.sizes()[2], kernel[0], stride[0], padding[0], padding[2], dilation[0]) &&
           x.init(input.sizes()[3], kernel[1], stride[1], padding[1], padding[3], dilation[1]);
  }
};

/// Channels that each depend on one input channel: vectors of channels, of which the bytes of up to four rows make
/// groups. The groups of a column serve all output pixels that the column is a part of.
class DepthwiseConvolution {
 public:
  explicit DepthwiseConvolution(const Call& call) : call_(call) {
    if (!has_tiles()) {
      return;
    }
    if (call_.x.stride == 1) {
      rows_ = std::min<int64_t>(kTileRows, call_.y.out);
    }
    const int64_t vectors = call_.x.stride == 1 ? kVectorsOfRows : kVectorsOfRow;
    while (most_parts_ < simd::kMostParts && call_.x.out >= vectors * most_parts_ * 2) {
      most_parts_ *= 2;
    }
  }

  bool compute(ProductScratch& scratch) {
    const int64_t weight_bytes = call_.weight_groups() * kGroupVectorBytes;
    block_bytes_ = kTileRows * weight_bytes + 2 * kFactorBytes;
    int64_t blocks = 0;
    for (int64_t channel = 0; channel < call_.groups; channel = block_from(channel).end()) {
      ++blocks;
    }
    factors_ = reinterpret_cast<char*>(scratch.get(blocks * block_bytes_));
    if (factors_ == nullptr) {
      return false;
    }
    for (int64_t channel = 0, i = 0; channel < call_.groups; channel = block_from(channel).end(), ++i) {
      arrange(block_from(channel), weight_bytes, factors_ + i * block_bytes_);
    }
    std::fill_n(zeros_, simd::kByteLanes, call_.padding);
    const int64_t work = rows_ * call_.x.out * (call_.groups + simd::kByteLanes) * call_.taps() * kDepthwiseCost;
    const int64_t steps = divide_up(call_.y.out, rows_);
    parallel_for(0, call_.batch * steps, std::max<int64_t>(kPartProducts / work, 1), [&](int64_t begin, int64_t end) {
      for (int64_t step = begin; step < end; ++step) {
        const char* factors = factors_;
        for (int64_t channel = 0; channel < call_.groups; factors += block_bytes_) {
          const Block block = block_from(channel);
          compute_rows(step / steps, step % steps * rows_, block, factors);
          channel = block.end();
        }
      }
    });
    return true;
  }

 private:
  static constexpr int64_t kFactorBytes = simd::kByteLanes * static_cast<int64_t>(sizeof(float));
  static constexpr int64_t kGroupVectorBytes = simd::kGroupBytes * simd::kByteLanes;
  /// Output rows that share the groups of a column: a group has the rows of the input that both of them meet.
  static constexpr int kTileRows = 2;
  /// Vectors of output pixels that are computed together, of each of these rows, or of one row.
  static constexpr int kVectorsOfRows = kVectorRegisters >= 32 ? 2 : 1;
  static constexpr int kVectorsOfRow = 2;

  /// Channels that are computed together. They fill a vector, or one of the parts of a vector, of which the others are
  /// the next pixels.
  struct Block {
    int64_t first;
    int64_t channels;
    int64_t parts;

    int64_t end() const { return first + channels; }
  };

  /// The block that `channel` is in. Where less channels are left than it has, some of those before are in it, too.
  Block block_from(int64_t channel) const {
    int64_t parts = 1;
    const auto fits = [&] {
      const int64_t width = simd::kByteLanes / parts;
      return width <= call_.groups && width < 2 * (call_.groups - channel);
    };
    while (parts < most_parts_ && !fits()) {
      parts *= 2;
    }
    if (simd::kByteLanes / parts > call_.groups) {
      return {0, call_.groups, 1};
    }
    const int64_t width = simd::kByteLanes / parts;
    return {std::min(channel, call_.groups - width), width, parts};
  }

  /// Whether the kernel has three columns next to each other, each of one group, and one byte of a group is left.
  bool has_tiles() const {
    return call_.conversion.type != ScalarType::Float && call_.y.kernel < simd::kGroupBytes && call_.y.dilation == 1 &&
           call_.x.kernel == 3 && call_.x.dilation == 1 &&
           ((call_.x.stride == 1 && call_.y.stride == 1) || call_.x.stride == 2);
  }

  /// Where the factors of a block's channel lie, which are in interleaved order.
  static int64_t position(int64_t channel) {
    const int64_t lane = channel / 16;
    return channel % 16 / 4 * simd::kIntLanes + lane * 4 + channel % 4;
  }

  /// Copies the factors and weights of a block's channels as the loops read them.
  void arrange(const Block& block, int64_t weight_bytes, char* target) const {
    const int64_t channels = block.channels * block.parts;
    const int64_t groups = call_.weight_groups();
    std::memset(target, 0, static_cast<size_t>(block_bytes_));
    float* const scales = reinterpret_cast<float*>(target);
    float* const offsets = scales + simd::kByteLanes;
    char* const weights = target + 2 * kFactorBytes;
    for (int64_t i = 0, n = 0; i < channels; i += n) {
      const int64_t channel = block.first + i % block.channels;
      // Four channels are neighbors here as there.
      n = i % 4 == 0 && channel % 4 == 0 && i % block.channels + 4 <= block.channels ? 4 : 1;
      const auto copy = [n](const void* from, void* to, int64_t size) {
        n == 4 ? std::memcpy(to, from, 4 * size) : std::memcpy(to, from, size);
      };
      copy(call_.conversion.scale + channel, scales + position(i), sizeof(float));
      copy(call_.conversion.offset + channel, offsets + position(i), sizeof(float));
      const char* const panel = call_.weight + channel / kPanelColumns * groups * kPanelColumns * kPanelDepth;
      for (int64_t group = 0; group < groups; ++group) {
        copy(panel + (group * kPanelColumns + channel % kPanelColumns) * kPanelDepth,
             weights + group * kGroupVectorBytes + position(i) * simd::kGroupBytes, simd::kGroupBytes);
      }
    }
    if (rows_ > 1) {
      // Of the next output row. The last byte of a group is zero, and becomes the first one of the next group.
      std::memcpy(weights + weight_bytes + 1, weights, static_cast<size_t>(weight_bytes - 1));
    }
  }

  /// What some rows of output pixels of a block of channels are made of.
  struct Row {
    const uint8_t* in;  // the batch's first pixel, from the block's first channel on
    char* out;          // of the first row
    const char* factors;
    int64_t y;  // of the first row of the input that the kernel meets; may be negative
    int64_t rows;
    Block block;
  };

  /// Rows of the input whose elements make groups. Of a row outside of the input, all columns are at the same place.
  struct GroupRows {
    const uint8_t* rows[simd::kGroupBytes];
    int64_t steps[simd::kGroupBytes];
  };

  int64_t out_row_bytes() const { return call_.x.out * call_.groups * call_.out_size; }

  void compute_rows(int64_t batch, int64_t out_y, const Block& block, const char* factors) const {
    const int64_t pixels = call_.y.in * call_.x.in;
    const Row row = {call_.in + batch * pixels * call_.groups + block.first,
                     call_.out + (batch * call_.y.out + out_y) * out_row_bytes() + block.first * call_.out_size,
                     factors,
                     out_y * call_.y.stride - call_.y.before,
                     std::min(rows_, call_.y.out - out_y),
                     block};
#if KERNELS_HAVE_VECTOR_TABLES
    if (call_.conversion.table != nullptr && simd::has_vector_tables()) {
      look_up_pixels(row);
      return;
    }
#endif
    compute_pixels(row, [](simd::Bytes bytes) KERNELS_ALWAYS_INLINE { return bytes; });
    if (call_.conversion.table != nullptr) {
      for (int64_t i = 0; i < row.rows; ++i) {
        look_up_rows(call_.conversion.table, call_.x.out, block.channels, call_.groups,
                     reinterpret_cast<uint8_t*>(row.out + i * out_row_bytes()));
      }
    }
  }

#if KERNELS_HAVE_VECTOR_TABLES

  KERNELS_VECTOR_TABLES void look_up_pixels(const Row& row) const {
    compute_pixels(row, simd::VectorTable{call_.conversion.table});
  }

#endif

  /// Computes rows, whose bytes `convert` converts. Not KERNELS_ALWAYS_INLINE, nor is what it calls with `convert`:
  /// that may be for other processors than these functions, until they are a part of another.
  template <typename Convert>
  void compute_pixels(const Row& row, const Convert& convert) const {
    int64_t x = 0;
    if (has_tiles() && row.block.channels * row.block.parts == simd::kByteLanes) {
      x = call_.x.stride == 1 ? compute_tiles<kTileRows, kVectorsOfRows, 1>(row, convert)
                              : compute_tiles<1, kVectorsOfRow, 2>(row, convert);
    }
    for (; x < call_.x.out; ++x) {
      for (int64_t i = 0; i < row.rows; ++i) {
        compute_pixel(row, i, x, convert);
      }
    }
  }

  /// The rows from `tap` of the kernel on, and behind them those that the next output rows meet.
  GroupRows group_rows(const Row& row, int64_t first, int64_t tap, int64_t count) const {
    GroupRows result;
    for (int64_t i = 0; i < simd::kGroupBytes; ++i) {
      const int64_t y = row.y + first * call_.y.stride + (tap + i) * call_.y.dilation;
      const bool is_inside = tap + i < count && y >= 0 && y < call_.y.in;
      result.rows[i] = is_inside ? row.in + y * call_.x.in * call_.groups : zeros_;
      result.steps[i] = is_inside ? call_.groups : 0;
    }
    return result;
  }

  /// Computes the pixels of some rows in tiles of `kVectors` vectors of each; returns where they end: at 0 where a tile
  /// is wider than a row. The first columns of two pixels are kStep columns apart.
  template <int kRows, int kVectors, int kStep, typename Convert>
  int64_t compute_tiles(const Row& row, const Convert& convert) const {
    if constexpr (simd::kMostParts >= 4) {
      if (row.block.parts == 4) {
        return compute_tiles_of<kRows, kVectors, kStep, 4>(row, convert);
      }
    }
    if constexpr (simd::kMostParts >= 2) {
      if (row.block.parts == 2) {
        return compute_tiles_of<kRows, kVectors, kStep, 2>(row, convert);
      }
    }
    return compute_tiles_of<kRows, kVectors, kStep, 1>(row, convert);
  }

  template <int kRows, int kVectors, int kStep, int kParts, typename Convert>
  int64_t compute_tiles_of(const Row& row, const Convert& convert) const {
    constexpr int64_t kPixels = kVectors * kParts;
    const int64_t end = call_.x.out;
    if (end < kPixels) {
      return 0;
    }
    const GroupRows rows = group_rows(row, 0, 0, call_.y.kernel + row.rows - 1);
    for (int64_t x = 0; x < end; x += kPixels) {
      // Some of the last pixels may be computed twice.
      x = std::min(x, end - kPixels);
      compute_tile<kRows, kVectors, kStep, kParts>(row, rows, x, convert);
    }
    return end;
  }

  template <int kRows, int kVectors, int kStep, int kParts, typename Convert>
  void compute_tile(const Row& row, const GroupRows& rows, int64_t x, const Convert& convert) const {
    constexpr int kKernel = 3;
    constexpr int kVectorStep = kStep * kParts;
    const simd::Bytes bits = simd::repeat_group(call_.bits * 0x01010101u);
    const char* const weights = row.factors + 2 * kFactorBytes;
    simd::Ints sums[kRows * kVectors][4];
#pragma GCC unroll 8
    for (int i = 0; i < kRows * kVectors; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        sums[i][j] = simd::Ints{};
      }
    }
#pragma GCC unroll 32
    for (int k = 0; k < (kVectors - 1) * kVectorStep + kKernel; ++k) {
      if (k % kVectorStep >= kKernel) {
        continue;
      }
      const int64_t first = x * kStep - call_.x.before + k;
      // The last row of a group is one that the next output row meets, or has weights of zero.
      constexpr int kMet = simd::kGroupBytes - kTileRows + kRows;
      simd::Bytes loaded[simd::kGroupBytes];
#pragma GCC unroll 4
      for (int i = 0; i < kMet; ++i) {
        const uint8_t* from[kParts];
#pragma GCC unroll 4
        for (int part = 0; part < kParts; ++part) {
          const int64_t column = first + part * kStep;
          from[part] = column >= 0 && column < call_.x.in ? rows.rows[i] + column * rows.steps[i] : zeros_;
        }
        loaded[i] = simd::load_parts(from) ^ bits;
      }
      if (kMet < simd::kGroupBytes) {
        loaded[simd::kGroupBytes - 1] = loaded[0];
      }
      simd::Bytes column[4];
      simd::interleave(loaded, column);
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) {
        if (k >= i * kVectorStep && k < i * kVectorStep + kKernel) {
#pragma GCC unroll 2
          for (int y = 0; y < kRows; ++y) {
            add_column(column, weights + (y * kKernel + k - i * kVectorStep) * kGroupVectorBytes,
                       sums[y * kVectors + i]);
          }
        }
      }
    }
    const float* const scales = reinterpret_cast<const float*>(row.factors);
    // A quarter of the channels at a time, which share factors.
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
#pragma GCC unroll 8
      for (int i = 0; i < kRows * kVectors; ++i) {
        sums[i][j] = simd::rounded(sums[i][j], scales + j * simd::kIntLanes,
                                   scales + simd::kByteLanes + j * simd::kIntLanes, call_.conversion.range);
      }
    }
#pragma GCC unroll 2
    for (int y = 0; y < kRows; ++y) {
      if (y >= row.rows) {
        break;
      }
      char* const out = row.out + y * out_row_bytes() + x * call_.groups;
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) {
        const simd::Bytes bytes = convert(simd::narrow(sums[y * kVectors + i]));
        if constexpr (kParts == 1) {
          simd::store(out + i * call_.groups, bytes);
        } else {
          constexpr int64_t kPartBytes = simd::kByteLanes / kParts;
          alignas(simd::kByteLanes) char parts[simd::kByteLanes];
          simd::store(parts, bytes);
#pragma GCC unroll 4
          for (int part = 0; part < kParts; ++part) {
            std::memcpy(out + (i * kParts + part) * call_.groups, parts + part * kPartBytes, kPartBytes);
          }
        }
      }
    }
  }

  /// Computes one pixel of a row.
  template <typename Convert>
  void compute_pixel(const Row& row, int64_t out_row, int64_t out_x, const Convert& convert) const {
    const simd::Bytes bits = simd::repeat_group(call_.bits * 0x01010101u);
    const GroupRows outside = {{zeros_, zeros_, zeros_, zeros_}, {}};
    const char* weights = row.factors + 2 * kFactorBytes;
    simd::Ints sums[4] = {simd::Ints{}, simd::Ints{}, simd::Ints{}, simd::Ints{}};
    for (int64_t tap = 0; tap < call_.y.kernel; tap += simd::kGroupBytes) {
      const GroupRows rows = group_rows(row, out_row, tap, call_.y.kernel);
      for (int64_t k = 0; k < call_.x.kernel; ++k, weights += kGroupVectorBytes) {
        const int64_t x = out_x * call_.x.stride - call_.x.before + k * call_.x.dilation;
        const GroupRows& met = x >= 0 && x < call_.x.in ? rows : outside;
        simd::Bytes loaded[simd::kGroupBytes];
        for (int i = 0; i < simd::kGroupBytes; ++i) {
          loaded[i] = simd::load_some_bytes(met.rows[i] + x * met.steps[i], row.block.channels) ^ bits;
        }
        simd::Bytes column[4];
        simd::interleave(loaded, column);
        add_column(column, weights, sums);
      }
    }
    store(row, sums, row.out + out_row * out_row_bytes() + out_x * call_.groups * call_.out_size, convert);
  }

  KERNELS_ALWAYS_INLINE static void add_column(const simd::Bytes (&column)[4], const char* weights,
                                               simd::Ints (&sums)[4]) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      sums[j] = simd::add_products(sums[j], column[j], simd::load_as<simd::Bytes>(weights + j * simd::kByteLanes));
    }
  }

  template <typename Convert>
  void store(const Row& row, const simd::Ints (&sums)[4], char* out, const Convert& convert) const {
    const float* const scales = reinterpret_cast<const float*>(row.factors);
    if (call_.conversion.type == ScalarType::Float) {
      int32_t values[simd::kByteLanes];
      for (int i = 0; i < 4; ++i) {
        simd::store(values + i * simd::kIntLanes, sums[i]);
      }
      store_floats(row, values, out);
      return;
    }
    char stored[simd::kByteLanes];
    simd::store(stored, convert(simd::narrow_sums(sums, scales, scales + simd::kByteLanes, call_.conversion.range)));
    simd::copy_few_bytes(out, stored, row.block.channels);
  }

  static void store_floats(const Row& row, const int32_t* values, char* out) {
    const float* const scales = reinterpret_cast<const float*>(row.factors);
    for (int64_t i = 0; i < row.block.channels; ++i) {
      const int64_t at = position(i);
      const float value = static_cast<float>(values[at]) * scales[at] + scales[simd::kByteLanes + at];
      std::memcpy(out + i * static_cast<int64_t>(sizeof(float)), &value, sizeof(value));
    }
  }

  const Call& call_;
  /// Output rows that are computed together, and parts of a vector at most.
  int64_t rows_ = 1;
  int64_t most_parts_ = 1;
  char* factors_ = nullptr;
  int64_t block_bytes_ = 0;
  uint8_t zeros_[simd::kByteLanes];  // The input's zero points.
};

/// A group at a time: rows of what the kernel meets at some pixels times weights. Where that is a pixel, the input has
/// these rows; else they are copied.
class RowConvolution {
 public:
  explicit RowConvolution(const Call& call)
      : call_(call),
        in_place_(call.y.is_pointwise() && call.x.is_pointwise()),
        k_(call.in_channels * call.taps()),
        pitch_(divide_up(k_, kPanelDepth) * kPanelDepth),
        end_(call.in + call.batch * call.y.in * call.x.in * call.all_in_channels()) {}

  bool compute(ProductScratch& scratch) const {
    const int64_t all = call_.batch * call_.y.out * call_.x.out;
    if (in_place_) {
      for (int64_t group = 0; group < call_.groups; ++group) {
        multiply(group, call_.in + group * call_.in_channels, call_.all_in_channels(), 0, all);
      }
      return true;
    }
    const int64_t pixels = std::min(all, std::max(kBlockBytes / pitch_ / kPixelBlock, thread_count()) * kPixelBlock);
    uint8_t* const rows = reinterpret_cast<uint8_t*>(scratch.get(pixels * pitch_));
    if (rows == nullptr) {
      return false;
    }
    for (int64_t group = 0; group < call_.groups; ++group) {
      for (int64_t first = 0; first < all; first += pixels) {
        const int64_t count = std::min(pixels, all - first);
        parallel_for(0, divide_up(count, kPixelBlock), std::max<int64_t>(kGrain / (kPixelBlock * pitch_), 1),
                     [&](int64_t begin, int64_t end) {
                       const int64_t row = begin * kPixelBlock;
                       copy_rows(group, first + row, std::min(end * kPixelBlock, count) - row, rows + row * pitch_);
                     });
        multiply(group, rows, pitch_, first, count);
      }
    }
    return true;
  }

 private:
  /// Copies what the kernel meets at `count` pixels, from `first` on.
  void copy_rows(int64_t group, int64_t first, int64_t count, uint8_t* target) const {
    const int64_t channels = call_.all_in_channels();
    int64_t out_x = first % call_.x.out;
    int64_t out_y = first / call_.x.out % call_.y.out;
    int64_t batch = first / call_.x.out / call_.y.out;
    for (int64_t pixel = 0, copied = 0; pixel < count; pixel += copied, target += copied * pitch_) {
      const int64_t x = out_x * call_.x.stride - call_.x.before;
      const int64_t y = out_y * call_.y.stride - call_.y.before;
      const uint8_t* const image = call_.in + batch * call_.y.in * call_.x.in * channels + group * call_.in_channels;
      copied = copy_run(image, x, y, call_.x.out - out_x, (count - pixel) * pitch_, target);
      if (copied == 0) {
        copy_pixel(image, x, y, target);
        copied = 1;
      }
      out_x += copied;
      if (out_x == call_.x.out) {
        out_x = 0;
        if (++out_y == call_.y.out) {
          out_y = 0;
          ++batch;
        }
      }
    }
  }

  /// Copies what the kernel meets from column `x` and row `y` on.
  void copy_pixel(const uint8_t* image, int64_t x, int64_t y, uint8_t* target) const {
    const int64_t channels = call_.all_in_channels();
    const bool is_run = call_.groups == 1 && call_.x.dilation == 1 && x >= 0 && x + call_.x.kernel <= call_.x.in;
    const int64_t n = call_.x.kernel * call_.in_channels;
    for (int64_t i = 0; i < call_.y.kernel; ++i, target += n) {
      const int64_t at = y + i * call_.y.dilation;
      if (at < 0 || at >= call_.y.in) {
        std::memset(target, call_.padding, static_cast<size_t>(n));
      } else if (is_run) {
        std::memcpy(target, image + (at * call_.x.in + x) * channels, static_cast<size_t>(n));
      } else {
        copy_columns(image + at * call_.x.in * channels, x, target);
      }
    }
  }

  /// Copies what the kernel meets at some pixels of a row, `most` at most, where each row of the kernel is a short copy
  /// of a fixed size, the fastest. What that writes behind the row is overwritten by the next ones, and stays in `room`
  /// bytes: those behind may be another thread's. Returns how many pixels these are: none where something is outside of
  /// the input.
  int64_t copy_run(const uint8_t* image, int64_t x, int64_t y, int64_t most, int64_t room, uint8_t* target) const {
    const int64_t n = call_.x.kernel * call_.in_channels;
    const int64_t free_columns = call_.x.in - x - call_.x.kernel;
    const int64_t last = y + (call_.y.kernel - 1) * call_.y.dilation;
    if (call_.groups != 1 || call_.x.dilation != 1 || n > kShortCopy || x < 0 || free_columns < 0 || y < 0 ||
        last >= call_.y.in) {
      return 0;
    }
    const uint8_t* source = image + (y * call_.x.in + x) * call_.in_channels;
    const int64_t step = call_.x.stride * call_.in_channels;
    const int64_t row_step = call_.y.dilation * call_.x.in * call_.in_channels;
    // Bytes of the input and of the target behind the first pixel's last copy.
    const int64_t unread = end_ - (source + (call_.y.kernel - 1) * row_step) - kShortCopy;
    const int64_t unwritten = room - (call_.y.kernel - 1) * n - kShortCopy;
    if (unread < 0 || unwritten < 0) {
      return 0;
    }
    const int64_t pixels =
        std::min({most, free_columns / call_.x.stride + 1, unread / step + 1, unwritten / pitch_ + 1});
    for (int64_t pixel = 0; pixel < pixels; ++pixel, source += step, target += pitch_) {
      for (int64_t i = 0; i < call_.y.kernel; ++i) {
        std::memcpy(target + i * n, source + i * row_step, kShortCopy);
      }
    }
    return pixels;
  }

  /// Copies what a row of the kernel meets from column `x` on.
  void copy_columns(const uint8_t* image_row, int64_t x, uint8_t* target) const {
    const auto n = static_cast<size_t>(call_.in_channels);
    for (int64_t i = 0; i < call_.x.kernel; ++i, target += n) {
      const int64_t at = x + i * call_.x.dilation;
      if (at < 0 || at >= call_.x.in) {
        std::memset(target, call_.padding, n);
      } else {
        std::memcpy(target, image_row + at * call_.all_in_channels(), n);
      }
    }
  }

  /// Multiplies the rows of `count` pixels, from `first` on: parts of some panels and some rows.
  void multiply(int64_t group, const uint8_t* rows, int64_t row_stride, int64_t first, int64_t count) const {
    const int64_t panels = divide_up(call_.out_channels, kPanelColumns);
    const int64_t products = count * call_.out_channels * k_;
    const int64_t parts = std::clamp<int64_t>(products / kPartProducts, 1, thread_count());
    const int64_t row_parts = std::min(parts, divide_up(count, kPixelStep));
    const int64_t panel_parts = std::min(parts / row_parts, panels);
    const auto row_at = [&](int64_t part) {
      return part == row_parts ? count : count * part / row_parts / kPixelStep * kPixelStep;
    };
    parallel_for(0, row_parts * panel_parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        const int64_t last_row = row_at(part / panel_parts + 1);
        const int64_t last_panel = panels * (part % panel_parts + 1) / panel_parts;
        for (int64_t row = row_at(part / panel_parts); row < last_row; row += kPixelBlock) {
          for (int64_t panel = panels * (part % panel_parts) / panel_parts; panel < last_panel; panel += kPanels) {
            multiply_block(group, rows, row_stride, first, {row, std::min(kPixelBlock, last_row - row)},
                           {panel, std::min(kPanels, last_panel - panel)});
          }
        }
      }
    });
  }

  struct Range {
    int64_t first;
    int64_t count;
  };

  /// Multiplies some rows by some panels.
  void multiply_block(int64_t group, const uint8_t* rows, int64_t row_stride, int64_t first_pixel, Range row,
                      Range panel) const {
    const int64_t panel_stride = call_.weight_groups() * kPanelColumns * kPanelDepth;
    const int64_t out_row_stride = call_.all_out_channels() * call_.out_size;
    const int64_t column = panel.first * kPanelColumns;
    const int64_t channel = group * call_.out_channels + column;
    const IntegerProduct product = {
        reinterpret_cast<const char*>(rows) + row.first * row_stride,
        row_stride,
        row.count,
        call_.bits,
        call_.weight + (group * divide_up(call_.out_channels, kPanelColumns) + panel.first) * panel_stride,
        panel_stride,
        std::min(panel.count * kPanelColumns, call_.out_channels - column),
        in_place_ ? k_ : pitch_,  // Behind copied rows is memory, and weights of zero.
        call_.conversion,
        call_.out + (first_pixel + row.first) * out_row_stride + channel * call_.out_size,
        out_row_stride};
    multiply_by_weights(product, channel);
  }

  const Call& call_;
  bool in_place_;
  int64_t k_;
  int64_t pitch_;
  const uint8_t* end_;  // of the input
};

bool is_channels_last(const Tensor& tensor) {
  const int64_t order[] = {0, 2, 3, 1};
  return has_dim_order(tensor, ArrayRef<int64_t>(order, 4));
}

}  // namespace

Tensor& quantized_convolution_out(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight,
                                  const Tensor& scale, const Tensor& offset, const std::optional<Tensor>& table,
                                  ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                                  ArrayRef<int64_t> dilation, int64_t groups, int64_t input_zero_point,
                                  int64_t quant_min, int64_t quant_max, ScalarType dtype, Tensor& out) {
  // Check
  Call call;
  const bool is_char = in.scalar_type() == ScalarType::Char;
  ET_KERNEL_CHECK(ctx, is_char || in.scalar_type() == ScalarType::Byte, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, dtype == out.scalar_type() && out.dim() == 4, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, call.init(in, scale.numel(), kernel_size, stride, padding, dilation, groups), InvalidArgument,
                  out);
  ET_KERNEL_CHECK_MSG(
      ctx,
      weight.scalar_type() == ScalarType::Char && weight.dim() == 4 && weight.sizes()[0] == call.weight_panels() &&
          weight.sizes()[1] == call.weight_groups() && weight.sizes()[2] == kPanelColumns &&
          weight.sizes()[3] == kPanelDepth && tensor_is_default_dim_order(weight),
      InvalidArgument, out,
      "weights of %d channels are not packed as Char of (%d, %d, %d, %d): export the program with the "
      "version of the rules that its kernels come from",
      static_cast<int>(scale.numel()), static_cast<int>(call.weight_panels()), static_cast<int>(call.weight_groups()),
      static_cast<int>(kPanelColumns), static_cast<int>(kPanelDepth));
  ET_KERNEL_CHECK(ctx, call.conversion.init(scale, offset, table, scale.numel(), quant_min, quant_max, dtype),
                  InvalidArgument, out);
  const int64_t least = is_char ? -128 : 0;
  ET_KERNEL_CHECK(ctx, input_zero_point >= least && input_zero_point <= least + 255, InvalidArgument, out);

  // Resize
  const Tensor::SizesType sizes[] = {in.sizes()[0], static_cast<Tensor::SizesType>(scale.numel()),
                                     static_cast<Tensor::SizesType>(call.y.out),
                                     static_cast<Tensor::SizesType>(call.x.out)};
  ET_KERNEL_CHECK(ctx, resize_to(out, {sizes, 4}), InvalidArgument, out);
  ET_KERNEL_CHECK_MSG(ctx, is_channels_last(in) && is_channels_last(out), InvalidArgument, out,
                      "the channels of a pixel are not neighbors");
  if (out.numel() == 0) {
    return out;
  }

  // Compute
  call.in = static_cast<const uint8_t*>(in.const_data_ptr());
  call.weight = static_cast<const char*>(weight.const_data_ptr());
  call.out = static_cast<char*>(out.mutable_data_ptr());
  call.out_size = out.element_size();
  call.bits = bits_to_byte(in.scalar_type());
  call.padding = static_cast<uint8_t>(input_zero_point);
  ProductScratch scratch(ctx);
  const bool has_memory =
      call.is_depthwise() ? DepthwiseConvolution(call).compute(scratch) : RowConvolution(call).compute(scratch);
  ET_KERNEL_CHECK_MSG(ctx, has_memory, MemoryAllocationFailed, out, "no memory for a part of the input");
  return out;
}

}  // namespace torch::executor::native
