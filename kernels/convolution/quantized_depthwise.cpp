#include <algorithm>
#include <cstring>

#include "kernels/convolution/quantized.h"
#include "kernels/convolution/quantized_depthwise_blocks.h"
#include "kernels/gemm/matmul.h"
#include "kernels/math/byte_table.h"
#include "kernels/math/divide_up.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/simd/run_time.h"
#include "kernels/simd/simd.h"
#include "kernels/simd/width.h"

namespace rules_executorch::kernels {
namespace {

/// The cost of a multiplication of a depthwise convolution, relative to one of another convolution.
constexpr int64_t kDepthwiseCost = 8;

/// A depthwise convolution in vectors of channels. The bytes of up to four input rows are interleaved to groups. The
/// groups of a column are reused for all output pixels that read the column.
class DepthwiseConvolution {
 public:
  explicit DepthwiseConvolution(const QuantizedConvolution& convolution) : c_(convolution) {
    if (!has_tiles()) {
      return;
    }
    if (c_.x.stride == 1) {
      rows_ = std::min<int64_t>(kTileRows, c_.y.out_size);
    }
    const int64_t vectors = c_.x.stride == 1 ? kVectorsOfRows : kVectorsOfRow;
    while (most_parts_ < simd::kMostParts && c_.x.out_size >= vectors * most_parts_ * 2) {
      most_parts_ *= 2;
    }
  }

  bool compute(ProductScratch& scratch) {
    const Blocks blocks(c_, rows_, most_parts_);
    int64_t count = 0;
    for (int64_t channel = 0; channel < c_.groups; channel = blocks.from(channel).end()) {
      ++count;
    }
    char* const all_factors = scratch.get(count * blocks.bytes());
    if (all_factors == nullptr) {
      return false;
    }
    for (int64_t channel = 0, i = 0; channel < c_.groups; channel = blocks.from(channel).end(), ++i) {
      blocks.arrange(blocks.from(channel), all_factors + i * blocks.bytes());
    }
    std::fill_n(zeros_, simd::kByteLanes, c_.zero_point);
    const int64_t work = rows_ * c_.x.out_size * (c_.groups + simd::kByteLanes) * c_.taps() * kDepthwiseCost;
    const int64_t steps = divide_up(c_.y.out_size, rows_);
    parallel_for(0, c_.batch * steps, std::max<int64_t>(QuantizedConvolution::kPartProducts / work, 1),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t step = begin; step < end; ++step) {
                     const char* factors = all_factors;
                     for (int64_t channel = 0; channel < c_.groups; factors += blocks.bytes()) {
                       const Block block = blocks.from(channel);
                       compute_rows(step / steps, step % steps * rows_, block, factors);
                       channel = block.end();
                     }
                   }
                 });
    return true;
  }

 private:
  using Blocks = DepthwiseBlocks;
  using Block = Blocks::Block;
  static constexpr int64_t kWeightsAt = Blocks::kWeightsAt;
  static constexpr int kTileRows = Blocks::kTileRows;
  /// The number of vectors of output pixels that are computed together: for each of kTileRows rows, and for one row.
  static constexpr int kVectorsOfRows = kVectorRegisters >= 32 ? 2 : 1;
  static constexpr int kVectorsOfRow = 2;

  /// Whether tiles support the convolution: the kernel has three adjacent columns, and the rows of a column fill at
  /// most three bytes of a group.
  bool has_tiles() const {
    return c_.conversion.type != ScalarType::Float && c_.y.kernel_size < simd::kQuadBytes && c_.y.dilation == 1 &&
           c_.x.kernel_size == 3 && c_.x.dilation == 1 && ((c_.x.stride == 1 && c_.y.stride == 1) || c_.x.stride == 2);
  }

  /// The operands of several rows of output pixels of a block of channels.
  struct Row {
    const uint8_t* in;  // the first pixel of the batch element, from the block's first channel on
    char* out;          // of the first row
    const char* factors;
    int64_t y;  // the first input row of the kernel; may be negative
    int64_t rows;
    Block block;
  };

  /// The input rows of the groups. For rows outside of the input, all columns are the same address.
  struct GroupRows {
    const uint8_t* rows[simd::kQuadBytes];
    int64_t steps[simd::kQuadBytes];
  };

  int64_t out_row_bytes() const { return c_.x.out_size * c_.groups * c_.element_size; }

  void compute_rows(int64_t batch, int64_t out_y, const Block& block, const char* factors) const {
    const int64_t pixels = c_.y.in_size * c_.x.in_size;
    const Row row = {c_.in + batch * pixels * c_.groups + block.first,
                     c_.out + (batch * c_.y.out_size + out_y) * out_row_bytes() + block.first * c_.element_size,
                     factors,
                     out_y * c_.y.stride - c_.y.padding,
                     std::min(rows_, c_.y.out_size - out_y),
                     block};
#if KERNELS_HAVE_VECTOR_TABLES
    if (c_.conversion.table != nullptr && simd::has_vector_tables()) {
      look_up_pixels(row);
      return;
    }
#endif
    compute_pixels(row, [](simd::Bytes bytes) KERNELS_ALWAYS_INLINE { return bytes; });
    if (c_.conversion.table != nullptr) {
      for (int64_t i = 0; i < row.rows; ++i) {
        look_up_rows(c_.conversion.table, c_.x.out_size, block.channels, c_.groups,
                     reinterpret_cast<uint8_t*>(row.out + i * out_row_bytes()));
      }
    }
  }

#if KERNELS_HAVE_VECTOR_TABLES

  KERNELS_VECTOR_TABLES void look_up_pixels(const Row& row) const {
    compute_pixels(row, simd::VectorTable{c_.conversion.table});
  }

#endif

  /// Computes rows and converts their bytes with `convert`. This function and its callees with `convert` are not
  /// KERNELS_ALWAYS_INLINE, because `convert` may be compiled for other instructions than these functions. Callers with
  /// these instructions inline both.
  template <typename Convert>
  void compute_pixels(const Row& row, const Convert& convert) const {
    int64_t x = 0;
    if (has_tiles() && row.block.channels * row.block.parts == simd::kByteLanes) {
      x = c_.x.stride == 1 ? compute_tiles<kTileRows, kVectorsOfRows, 1>(row, convert)
                           : compute_tiles<1, kVectorsOfRow, 2>(row, convert);
    }
    for (; x < c_.x.out_size; ++x) {
      for (int64_t i = 0; i < row.rows; ++i) {
        compute_pixel(row, i, x, convert);
      }
    }
  }

  /// The input rows of the kernel rows from `tap` on, followed by the rows of the next output rows.
  GroupRows group_rows(const Row& row, int64_t first, int64_t tap, int64_t count) const {
    GroupRows result;
    for (int64_t i = 0; i < simd::kQuadBytes; ++i) {
      const int64_t y = row.y + first * c_.y.stride + (tap + i) * c_.y.dilation;
      const bool is_inside = tap + i < count && y >= 0 && y < c_.y.in_size;
      result.rows[i] = is_inside ? row.in + y * c_.x.in_size * c_.groups : zeros_;
      result.steps[i] = is_inside ? c_.groups : 0;
    }
    return result;
  }

  /// Computes the pixels of several rows in tiles of `kVectors` vectors for each row. Returns the end of the computed
  /// pixels: 0 if a tile is wider than a row. The first columns of two neighboring pixels are kStep columns apart.
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
    const int64_t end = c_.x.out_size;
    if (end < kPixels) {
      return 0;
    }
    const GroupRows rows = group_rows(row, 0, 0, c_.y.kernel_size + row.rows - 1);
    for (int64_t x = 0; x < end; x += kPixels) {
      // Some of the last pixels may be computed twice.
      x = std::min(x, end - kPixels);
      compute_tile<kRows, kVectors, kStep, kParts>(row, rows, x, convert);
    }
    return end;
  }

  /// Loads the groups of a column, whose first part is at `first`.
  template <int kRows, int kStep, int kParts>
  KERNELS_ALWAYS_INLINE void load_column(const GroupRows& rows, int64_t first, simd::Bytes bits,
                                         simd::Bytes (&column)[4]) const {
    // The last row of a group is only read by the next output row, or has weights of 0.
    constexpr int kMet = simd::kQuadBytes - kTileRows + kRows;
    simd::Bytes loaded[simd::kQuadBytes];
#pragma GCC unroll 4
    for (int i = 0; i < kMet; ++i) {
      const uint8_t* from[kParts];
#pragma GCC unroll 4
      for (int part = 0; part < kParts; ++part) {
        const int64_t x = first + part * kStep;
        from[part] = x >= 0 && x < c_.x.in_size ? rows.rows[i] + x * rows.steps[i] : zeros_;
      }
      loaded[i] = simd::load_parts(from) ^ bits;
    }
    if (kMet < simd::kQuadBytes) {
      loaded[simd::kQuadBytes - 1] = loaded[0];
    }
    simd::interleave(loaded, column);
  }

  template <int kRows, int kVectors, int kStep, int kParts, typename Convert>
  void compute_tile(const Row& row, const GroupRows& rows, int64_t x, const Convert& convert) const {
    constexpr int kKernel = 3;
    constexpr int kVectorStep = kStep * kParts;
    const simd::Bytes bits = simd::repeat_quad((c_.bits ^ simd::kFlippedBits) * 0x01010101u);
    const char* const weights = row.factors + kWeightsAt;
    simd::Ints sums[kRows * kVectors][4];
#pragma GCC unroll 8
    for (int i = 0; i < kRows * kVectors; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        sums[i][j] = Blocks::first_sums(row.factors, j);
      }
    }
#pragma GCC unroll 32
    for (int k = 0; k < (kVectors - 1) * kVectorStep + kKernel; ++k) {
      if (k % kVectorStep >= kKernel) {
        continue;
      }
      const int64_t first = x * kStep - c_.x.padding + k;
      simd::Bytes column[4];
      load_column<kRows, kStep, kParts>(rows, first, bits, column);
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) {
        if (k >= i * kVectorStep && k < i * kVectorStep + kKernel) {
#pragma GCC unroll 2
          for (int y = 0; y < kRows; ++y) {
            Blocks::add_column(column, weights + (y * kKernel + k - i * kVectorStep) * Blocks::kGroupBytes,
                               sums[y * kVectors + i]);
          }
        }
      }
    }
    const float* const scales = reinterpret_cast<const float*>(row.factors);
    // A quarter of the channels at a time. These channels share factors.
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
#pragma GCC unroll 8
      for (int i = 0; i < kRows * kVectors; ++i) {
        sums[i][j] = c_.conversion.rounded(sums[i][j], scales + j * simd::kIntLanes,
                                           scales + simd::kByteLanes + j * simd::kIntLanes);
      }
    }
#pragma GCC unroll 2
    for (int y = 0; y < kRows; ++y) {
      if (y >= row.rows) {
        break;
      }
      char* const out = row.out + y * out_row_bytes() + x * c_.groups;
#pragma GCC unroll 4
      for (int i = 0; i < kVectors; ++i) {
        void* to[kParts];
#pragma GCC unroll 4
        for (int part = 0; part < kParts; ++part) {
          to[part] = out + (i * kParts + part) * c_.groups;
        }
        simd::store_parts(to, convert(simd::narrow(sums[y * kVectors + i])));
      }
    }
  }

  /// Computes one pixel of a row.
  template <typename Convert>
  void compute_pixel(const Row& row, int64_t out_row, int64_t out_x, const Convert& convert) const {
    const simd::Bytes bits = simd::repeat_quad((c_.bits ^ simd::kFlippedBits) * 0x01010101u);
    const GroupRows outside = {{zeros_, zeros_, zeros_, zeros_}, {}};
    const char* weights = row.factors + kWeightsAt;
    simd::Ints sums[4];
    for (int64_t j = 0; j < 4; ++j) {
      sums[j] = Blocks::first_sums(row.factors, j);
    }
    for (int64_t tap = 0; tap < c_.y.kernel_size; tap += simd::kQuadBytes) {
      const GroupRows rows = group_rows(row, out_row, tap, c_.y.kernel_size);
      for (int64_t k = 0; k < c_.x.kernel_size; ++k, weights += Blocks::kGroupBytes) {
        const int64_t x = out_x * c_.x.stride - c_.x.padding + k * c_.x.dilation;
        const GroupRows& met = x >= 0 && x < c_.x.in_size ? rows : outside;
        simd::Bytes loaded[simd::kQuadBytes];
        for (int i = 0; i < simd::kQuadBytes; ++i) {
          loaded[i] = simd::load_some_bytes(met.rows[i] + x * met.steps[i], row.block.channels) ^ bits;
        }
        simd::Bytes column[4];
        simd::interleave(loaded, column);
        Blocks::add_column(column, weights, sums);
      }
    }
    store(row, sums, row.out + out_row * out_row_bytes() + out_x * c_.groups * c_.element_size, convert);
  }

  template <typename Convert>
  void store(const Row& row, const simd::Ints (&sums)[4], char* out, const Convert& convert) const {
    const float* const scales = reinterpret_cast<const float*>(row.factors);
    if (c_.conversion.type == ScalarType::Float) {
      int32_t values[simd::kByteLanes];
      for (int i = 0; i < 4; ++i) {
        simd::store(values + i * simd::kIntLanes, sums[i]);
      }
      store_floats(row, values, out);
      return;
    }
    simd::Ints rounded[4];
    for (int j = 0; j < 4; ++j) {
      rounded[j] =
          c_.conversion.rounded(sums[j], scales + j * simd::kIntLanes, scales + simd::kByteLanes + j * simd::kIntLanes);
    }
    char stored[simd::kByteLanes];
    simd::store(stored, convert(simd::narrow(rounded)));
    simd::copy_few_bytes(out, stored, row.block.channels);
  }

  static void store_floats(const Row& row, const int32_t* values, char* out) {
    const float* const scales = reinterpret_cast<const float*>(row.factors);
    for (int64_t i = 0; i < row.block.channels; ++i) {
      const int64_t at = Blocks::position(i);
      const float value = static_cast<float>(values[at]) * scales[at] + scales[simd::kByteLanes + at];
      std::memcpy(out + i * static_cast<int64_t>(sizeof(float)), &value, sizeof(value));
    }
  }

  const QuantizedConvolution& c_;
  /// The number of output rows that are computed together, and the largest number of parts of a vector.
  int64_t rows_ = 1;
  int64_t most_parts_ = 1;
  uint8_t zeros_[simd::kByteLanes];  // zero points of the input
};

}  // namespace

bool convolve_depthwise(const QuantizedConvolution& convolution, ProductScratch& scratch) {
  return DepthwiseConvolution(convolution).compute(scratch);
}

}  // namespace rules_executorch::kernels
