#pragma once

#include <algorithm>
#include <cstring>

#include "kernels/convolution/quantized.h"
#include "kernels/gemm/integer_product.h"
#include "kernels/simd/simd.h"
#include "kernels/simd/width.h"

namespace rules_executorch::kernels {

/// The blocks of channels of a depthwise convolution, and their factors in the order in which the loops read them.
class DepthwiseBlocks {
 public:
  /// The factors of a block are its scales, its offsets, the first sums of its channels, and its weights.
  static constexpr int64_t kFactorBytes = simd::kByteLanes * static_cast<int64_t>(sizeof(float));
  static constexpr int64_t kFirstSumsAt = 2 * kFactorBytes;
  static constexpr int64_t kWeightsAt = 3 * kFactorBytes;
  static constexpr int64_t kGroupVectorBytes = simd::kQuadBytes * simd::kByteLanes;
  /// The size of a weight in a block, in bytes. If products of bytes are products of 16-bit integers, the weights are
  /// widened once: the even bytes of the groups of a vector, then the odd bytes.
#if defined(KERNELS_MULTIPLIES_SHORTS)
  static constexpr int64_t kWidening = 2;
#else
  static constexpr int64_t kWidening = 1;
#endif
  /// The bytes of one group of all channels of a block.
  static constexpr int64_t kGroupBytes = kWidening * kGroupVectorBytes;
  /// The number of output rows that share the groups of a column. A group has the input rows of both output rows.
  static constexpr int kTileRows = 2;

  /// Channels that are computed together. They fill a vector, or one of `parts` parts of a vector. The other parts are
  /// the next pixels.
  struct Block {
    int64_t first;
    int64_t channels;
    int64_t parts;

    int64_t end() const { return first + channels; }
  };

  /// A block has up to `most_parts` parts. With `rows` of kTileRows, there are weights of two output rows.
  DepthwiseBlocks(const QuantizedConvolution& convolution, int64_t rows, int64_t most_parts)
      : c_(convolution), rows_(rows), most_parts_(most_parts) {}

  /// The block that contains `channel`. If fewer channels are left than a block has, the block starts at an earlier
  /// channel.
  Block from(int64_t channel) const {
    int64_t parts = 1;
    const auto fits = [&] {
      const int64_t width = simd::kByteLanes / parts;
      return width <= c_.groups && width < 2 * (c_.groups - channel);
    };
    while (parts < most_parts_ && !fits()) {
      parts *= 2;
    }
    if (simd::kByteLanes / parts > c_.groups) {
      return {0, c_.groups, 1};
    }
    const int64_t width = simd::kByteLanes / parts;
    return {std::min(channel, c_.groups - width), width, parts};
  }

  /// The number of bytes of the factors of a block.
  int64_t bytes() const { return kTileRows * kWidening * weight_bytes() + kWeightsAt; }

  /// The position of the factors of a block's channel, in interleaved order.
  static int64_t position(int64_t channel) {
    const int64_t lane = channel / 16;
    return channel % 16 / 4 * simd::kIntLanes + lane * 4 + channel % 4;
  }

  /// Copies the factors and weights of a block's channels to the order in which the loops read them.
  void arrange(const Block& block, char* target) const {
    const int64_t weight_bytes = this->weight_bytes();
    const int64_t channels = block.channels * block.parts;
    const int64_t groups = c_.weight_groups();
    std::memset(target, 0, static_cast<size_t>(bytes()));
    float* const scales = reinterpret_cast<float*>(target);
    float* const offsets = scales + simd::kByteLanes;
    char* const weights = target + kWeightsAt;
    for (int64_t i = 0, n = 0; i < channels; i += n) {
      const int64_t channel = block.first + i % block.channels;
      // Four consecutive channels are also consecutive in the target.
      n = i % 4 == 0 && channel % 4 == 0 && i % block.channels + 4 <= block.channels ? 4 : 1;
      const auto copy = [n](const void* from, void* to, int64_t size) {
        n == 4 ? std::memcpy(to, from, 4 * size) : std::memcpy(to, from, size);
      };
      copy(c_.conversion.scale + channel, scales + position(i), sizeof(float));
      copy(c_.conversion.offset + channel, offsets + position(i), sizeof(float));
      const char* const panel = c_.weight + channel / kPanelColumns * groups * kPanelColumns * kPanelDepth;
      for (int64_t group = 0; group < groups; ++group) {
        copy(panel + (group * kPanelColumns + channel % kPanelColumns) * kPanelDepth,
             weights + group * kGroupVectorBytes + position(i) * simd::kQuadBytes, simd::kQuadBytes);
      }
    }
    for (int64_t j = 0; j < 4; ++j) {
      simd::store(target + kFirstSumsAt + j * simd::kByteLanes,
                  simd::lacking_sums(weights + j * simd::kByteLanes, kGroupVectorBytes, groups));
    }
    if (rows_ > 1) {
      // The weights of the next output row, for the same input rows: the same bytes, shifted by one byte. The last byte
      // of each group is 0, and is the first byte of the next group after the shift.
      //
      //     output row 0:  w0 w1 w2 0  | w0 w1 w2 0  | ...
      //     output row 1:  0  w0 w1 w2 | 0  w0 w1 w2 | ...
      std::memcpy(weights + weight_bytes + 1, weights, static_cast<size_t>(weight_bytes - 1));
    }
#if defined(KERNELS_MULTIPLIES_SHORTS)
    for (int64_t i = kTileRows * weight_bytes - simd::kByteLanes; i >= 0; i -= simd::kByteLanes) {
      const auto bytes = simd::load_as<simd::Bytes>(weights + i);
      simd::store(weights + kWidening * i, simd::even_chars(bytes));
      simd::store(weights + kWidening * i + simd::kByteLanes, simd::odd_chars(bytes));
    }
#endif
  }

  /// The first sums of a quarter of a block's channels.
  KERNELS_ALWAYS_INLINE static simd::Ints first_sums(const char* factors, int64_t quarter) {
    if constexpr (simd::kMultipliesSignedBytes) {
      return simd::load_as<simd::Ints>(factors + kFirstSumsAt + quarter * simd::kByteLanes);
    }
    return simd::Ints{};
  }

  /// Adds the products of a column's groups and weights.
  KERNELS_ALWAYS_INLINE static void add_column(const simd::Bytes (&column)[4], const char* weights,
                                               simd::Ints (&sums)[4]) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const auto of_vector = simd::load_as<simd::Bytes>(weights + j * kWidening * simd::kByteLanes);
#if defined(KERNELS_MULTIPLIES_SHORTS)
      const auto odd = simd::load_as<simd::Bytes>(weights + (j * kWidening + 1) * simd::kByteLanes);
      sums[j] = simd::add_short_products(sums[j], simd::even_bytes(column[j]), of_vector);
      sums[j] = simd::add_short_products(sums[j], simd::odd_bytes(column[j]), odd);
#else
      sums[j] = simd::add_products(sums[j], column[j], of_vector);
#endif
    }
  }

 private:
  int64_t weight_bytes() const { return c_.weight_groups() * kGroupVectorBytes; }

  const QuantizedConvolution& c_;
  int64_t rows_;
  int64_t most_parts_;
};

}  // namespace rules_executorch::kernels
