#include "kernels/gemm/integer_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/gemm/integer_tile.h"
#include "kernels/math/byte_table.h"
#include "kernels/math/vectorize.h"
#include "kernels/simd/run_time.h"
#include "kernels/simd/simd.h"

namespace rules_executorch::kernels {

using namespace integer;

namespace {

void store_floats_of_row(const Tile& tile, const int32_t* sums, float* out) {
  vectorized_for(tile.columns, [=, scales = tile.scales, offsets = tile.offsets](int64_t i) {
    out[i] = static_cast<float>(sums[i]) * scales[i] + offsets[i];
  });
}

template <int kRows, int kVectors>
KERNELS_ALWAYS_INLINE inline void store_floats(const Tile& tile, const simd::Ints (&totals)[kRows][kVectors]) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    int32_t sums[kVectors * simd::kIntLanes];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      simd::store(sums + j * simd::kIntLanes, totals[i][j]);
    }
    store_floats_of_row(tile, sums, reinterpret_cast<float*>(tile.out + i * tile.out_row_stride));
  }
}

/// Converts sums to bytes with `convert` and stores them. Each step has as many rows as fit into a vector.
template <int kRows, int kVectors, typename Convert>
KERNELS_ALWAYS_INLINE inline void store_rows(const Tile& tile, simd::Ints (&totals)[kRows][kVectors],
                                             const Convert& convert) {
  constexpr int kTogether = 4 / kVectors;
  constexpr int64_t kRowBytes = kVectors * simd::kIntLanes;
  // The vectors of a column share factors and offsets.
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      totals[i][j] =
          tile.conversion.rounded(totals[i][j], tile.scales + j * simd::kIntLanes, tile.offsets + j * simd::kIntLanes);
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; i += kTogether) {
    simd::Ints x[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const int row = i + j / kVectors;
      x[j] = j < kTogether * kVectors && row < kRows ? totals[row][j % kVectors] : simd::Ints{};
    }
    const simd::Bytes bytes = convert(simd::in_order(simd::narrow(x)));
    char* const out = tile.out + i * tile.out_row_stride;
    if constexpr (kTogether <= simd::kMostParts && kTogether * kRowBytes == simd::kByteLanes) {
      if (tile.columns == kRowBytes && i + kTogether <= kRows) {
        void* to[kTogether];
#pragma GCC unroll 4
        for (int j = 0; j < kTogether; ++j) {
          to[j] = out + j * tile.out_row_stride;
        }
        simd::store_parts(to, bytes);
        continue;
      }
    }
    alignas(simd::kByteLanes) char rows[simd::kByteLanes];
    simd::store(rows, bytes);
    for (int j = 0; j < kTogether && i + j < kRows; ++j) {
      if (tile.columns == kRowBytes) {
        // A copy with a constant size is the fastest.
        std::memcpy(out + j * tile.out_row_stride, rows + j * kRowBytes, kRowBytes);
      } else {
        simd::copy_few_bytes(out + j * tile.out_row_stride, rows + j * kRowBytes, tile.columns);
      }
    }
  }
}

/// Not KERNELS_ALWAYS_INLINE, because `convert` may be compiled for other instructions than this function. Callers with
/// these instructions inline both.
template <int kRows, int kPanelCount, typename Convert>
inline void compute_tile(const Tile& tile, const Convert& convert) {
  constexpr int kVectors = kPanelCount * kVectorsOfPanel;
  simd::Ints totals[kRows][kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      totals[i][j] = simd::Ints{};
    }
  }
  const simd::Bytes bits = simd::repeat_quad((tile.row_bits ^ simd::kFlippedBits) * 0x01010101u);
  add_quads(tile, bits, totals);
  if (tile.conversion.type == ScalarType::Float) {
    store_floats(tile, totals);
  } else {
    store_rows(tile, totals, convert);
  }
}

template <int kRows, int kPanelCount>
void compute_plain_tile(const Tile& tile) {
  compute_tile<kRows, kPanelCount>(tile, [](simd::Bytes bytes) KERNELS_ALWAYS_INLINE { return bytes; });
}

#if KERNELS_HAVE_VECTOR_TABLES

template <int kRows, int kPanelCount>
KERNELS_VECTOR_TABLES void compute_table_tile(const Tile& tile) {
  compute_tile<kRows, kPanelCount>(tile, simd::VectorTable{tile.conversion.table});
}

#endif

/// The number of rows of the tile that computes the next of `left` rows, of a product of `rows` rows. Tiles have `most`
/// rows, half as many, and so on down to one. A tile with more than `left` rows repeats rows before them.
constexpr int64_t rows_of_tile(int64_t most, int64_t left, int64_t rows) {
  while (most > 1 && (most / 2 >= left || most > rows)) {
    most /= 2;
  }
  return most;
}

/// Computes a tile of `rows` rows, which rows_of_tile() returned.
template <int kPanelCount, int kRows>
void compute_rows(const Tile& tile, int64_t rows) {
  if constexpr (kRows > 1) {
    if (rows < kRows) {
      compute_rows<kPanelCount, kRows / 2>(tile, rows);
      return;
    }
  }
#if KERNELS_HAVE_VECTOR_TABLES
  if (tile.conversion.table != nullptr && simd::has_vector_tables()) {
    compute_table_tile<kRows, kPanelCount>(tile);
    return;
  }
#endif
  compute_plain_tile<kRows, kPanelCount>(tile);
}

/// Computes the tile of several rows and at most kPanelCount panels. Returns the first row after the tile.
template <int kPanelCount = kPanelsOfTile>
int64_t compute_tile_at(const IntegerProduct& product, const float* scales, const float* offsets, int64_t row,
                        int64_t column, Prepared& prepared) {
  const int64_t columns = std::min(kPanelCount * kPanelColumns, product.columns - column);
  if constexpr (kPanelCount > 1) {
    if (columns <= (kPanelCount - 1) * kPanelColumns) {
      return compute_tile_at<kPanelCount - 1>(product, scales, offsets, row, column, prepared);
    }
  }
  constexpr int kRows = tile_rows(kPanelCount);
  const int64_t rows = rows_of_tile(kRows, product.rows - row, product.rows);
  row = std::min(row, product.rows - rows);
  const auto size = static_cast<int64_t>(elementSize(product.conversion.type));
  const Tile tile = {product.rows_data + row * product.row_stride,
                     product.row_stride,
                     product.row_bits,
                     product.panels + column / kPanelColumns * product.panel_stride,
                     product.panel_stride,
                     product.k,
                     product.conversion,
                     scales + column,
                     offsets + column,
                     columns,
                     product.out + row * product.out_row_stride + column * size,
                     product.out_row_stride,
                     prepared,
                     column == 0};
  compute_rows<kPanelCount, kRows>(tile, rows);
  return row + rows;
}

}  // namespace

bool SumConversion::init(const Tensor& scales, const Tensor& offsets, const std::optional<Tensor>& values,
                         int64_t count, int64_t quant_min, int64_t quant_max, ScalarType out_type) {
  range = {static_cast<float>(quant_min), static_cast<float>(quant_max)};
  table = nullptr;
  is_affine = false;
  type = out_type;
  for (const Tensor* const parameters : {&scales, &offsets}) {
    if (parameters->scalar_type() != ScalarType::Float || parameters->dim() != 1 || parameters->numel() != count) {
      return false;
    }
  }
  scale = scales.const_data_ptr<float>();
  offset = offsets.const_data_ptr<float>();
  if (type == ScalarType::Float) {
    return !values.has_value();
  }
  if (values.has_value()) {
    if (values->scalar_type() != type || values->numel() != 256) {
      return false;
    }
    table = static_cast<const uint8_t*>(values->const_data_ptr());
  }
  const bool is_char = type == ScalarType::Char;
  if ((!is_char && type != ScalarType::Byte) || quant_min > quant_max || quant_min < (is_char ? -128 : 0) ||
      quant_max > (is_char ? 127 : 255)) {
    return false;
  }
#if defined(KERNELS_ROUNDS_AFFINE)
  if (table != nullptr && !simd::has_vector_tables()) {
    is_affine = find_affine(table, is_char, static_cast<int>(quant_min), static_cast<int>(quant_max), affine);
    if (is_affine) {
      table = nullptr;
      range = {affine.min, affine.max};
    }
  }
#endif
  return true;
}

void multiply_by_weights(const IntegerProduct& product, int64_t channel) {
  const float* scales = product.conversion.scale + channel;
  const float* offsets = product.conversion.offset + channel;
  alignas(64) float padded[2][kBlockColumns];
  if (product.columns % kPanelColumns != 0) {
    std::fill_n(std::copy_n(scales, product.columns, padded[0]), kBlockColumns - product.columns, 0.0f);
    std::fill_n(std::copy_n(offsets, product.columns, padded[1]), kBlockColumns - product.columns, 0.0f);
    scales = padded[0];
    offsets = padded[1];
  }
  constexpr int64_t kTileColumns = kPanelsOfTile * kPanelColumns;
  Prepared prepared;
#if defined(KERNELS_MULTIPLIES_SHORTS)
  for (int64_t row = 0, end = 0; row < product.rows; row = end) {
    for (int64_t column = 0; column < product.columns; column += kTileColumns) {
      end = compute_tile_at(product, scales, offsets, row, column, prepared);
    }
  }
#else
  // The panels of a tile stay in a cache for all rows.
  for (int64_t column = 0; column < product.columns; column += kTileColumns) {
#if defined(KERNELS_MULTIPLIES_BY_QUAD)
    prepared.add_panel(product.panels + column / kPanelColumns * product.panel_stride, product.k);
#endif
    for (int64_t row = 0; row < product.rows;) {
      row = compute_tile_at(product, scales, offsets, row, column, prepared);
    }
  }
#endif
  if (product.conversion.table != nullptr && !simd::has_vector_tables()) {
    look_up_rows(product.conversion.table, product.rows, product.columns, product.out_row_stride,
                 reinterpret_cast<uint8_t*>(product.out));
  }
}

}  // namespace rules_executorch::kernels
