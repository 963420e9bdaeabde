#include "kernels/gemm/dynamic_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/gemm/integer_operands.h"
#include "kernels/gemm/integer_tile.h"
#include "kernels/math/divide_up.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/simd/simd.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {

using namespace integer;

namespace {

/// The number of rows that are multiplied by a panel before the next panel.
constexpr int64_t kDynamicMC = 64;

/// The tiles of a DynamicProduct whose weights have kBits bits.
template <int kBits>
struct DynamicTiles {
  static constexpr bool kWidensRows = false;
  static constexpr int kMostRows = tile_rows(kPanelsOfTile);
  /// The factor of the sums.
  static constexpr float kFactor = kBits == 4 ? 1.0f / simd::kNibbleFactor : 1.0f;
  using Floats = simd::Vector<float, simd::kByteLanes>;

  const DynamicProduct& product;
  Prepared& prepared;

  /// Not inlined: with the sums of several tiles in a function, the compiler keeps sums in memory.
  template <int kRows, int kPanelCount>
  [[gnu::noinline]] void compute(int64_t row, int64_t column, int64_t count) const {
    // Products of one row wait for memory. One stream of weights is faster than several.
    if constexpr (kPanelCount > 1 && (kRows == 1 || kPanelCount < kPanelsOfTile)) {
      for (int64_t i = 0; i < count; i += kPanelColumns) {
        compute<kRows, 1>(row, column + i, std::min(kPanelColumns, count - i));
      }
      return;
    }
    const int64_t panel = column / kPanelColumns;
    Operands<kBits, /*kIsUnsigned=*/false> tile = {
        reinterpret_cast<const char*>(product.rows_data) + row * product.row_stride,
        product.row_stride,
        product.panels + panel * product.panel_stride,
        product.panel_stride,
        product.group_size,
        prepared};
    Floats totals[kRows][kPanelCount * kVectorsOfPanel] = {};
    for (int64_t g = 0; g < product.groups; ++g) {
      simd::Ints sums[kRows][kPanelCount * kVectorsOfPanel];
      sum_products(tile, sums);
      add_scaled(panel, g, sums, totals);
      tile.rows += tile.k;
      tile.panels += tile.k * tile.kElementBytes;
    }
    for (int i = 0; i < kRows; ++i) {
      float results[kPanelCount * kPanelColumns];
      std::memcpy(results, totals[i], sizeof(results));
      store(row + i, column, results, count);
    }
  }

 private:
  /// Adds the sums of a group, times their scales.
  template <int kRows, int kVectors>
  KERNELS_ALWAYS_INLINE void add_scaled(int64_t panel, int64_t group, const simd::Ints (&sums)[kRows][kVectors],
                                        Floats (&totals)[kRows][kVectors]) const {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const int64_t of_panel = (panel + j / kVectorsOfPanel) * product.groups + group;
      const auto scales =
          simd::load_as<Floats>(product.scales + of_panel * kPanelColumns + j % kVectorsOfPanel * simd::kIntLanes);
#pragma GCC unroll 12
      for (int i = 0; i < kRows; ++i) {
        totals[i][j] += simd::floats_of(simd::integers_of(sums[i][j])) * scales;
      }
    }
  }

  /// Stores `count` results of a row.
  KERNELS_ALWAYS_INLINE void store(int64_t row, int64_t column, const float* totals, int64_t count) const {
    const RowParameters parameters = product.parameters[row];
    const auto size = static_cast<int64_t>(elementSize(product.type));
    char* const results = product.out + (row * product.columns + column) * size;
    float block[kBlockColumns];
    float* const out = product.type == ScalarType::Float ? reinterpret_cast<float*>(results) : block;
    vectorized_for(count, [=, offsets = product.offsets + column](int64_t j) {
      out[j] = (totals[j] * kFactor - parameters.zero_point * offsets[j]) * parameters.scale;
    });
    if (product.bias != nullptr) {
      vectorized_for(count, [=, bias = product.bias + column](int64_t j) { out[j] += bias[j]; });
    }
    if (product.type != ScalarType::Float) {
      store_block(ScalarType::Float, block, product.type, results, size, count);
    }
  }
};

template <int kBits>
void multiply_dynamic(const DynamicProduct& product) {
  constexpr int64_t kTileColumns = kPanelsOfTile * kPanelColumns;
  const int64_t parts = divide_up(product.columns, kTileColumns);
  const int64_t row_blocks = divide_up(product.rows, kDynamicMC);
  const int64_t work =
      std::min(product.rows, kDynamicMC) * product.groups * product.group_size * kPanelsOfTile / kPanelDepth;
  parallel_for(
      0, row_blocks * parts, grain_of(work, kPanelsOfTile * product.panel_stride), [&](int64_t begin, int64_t end) {
        Prepared prepared;
        for (; begin < end; ++begin) {
          const int64_t row = begin / parts * kDynamicMC;
          const int64_t column = begin % parts * kTileColumns;
          compute_tiles(DynamicTiles<kBits>{product, prepared}, {row, std::min(row + kDynamicMC, product.rows), column,
                                                                 std::min(column + kTileColumns, product.columns)});
        }
      });
}

}  // namespace

void multiply_quantized_rows(const DynamicProduct& product) {
  if (product.has_nibbles) {
    multiply_dynamic<4>(product);
  } else {
    multiply_dynamic<8>(product);
  }
}

}  // namespace rules_executorch::kernels
