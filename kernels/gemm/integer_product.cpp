#include "kernels/gemm/integer_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/math/byte_table.h"
#include "kernels/math/vectorize.h"
#include "kernels/simd/run_time.h"
#include "kernels/simd/simd.h"
#include "kernels/simd/width.h"

namespace rules_executorch::kernels {

namespace {

struct WidenedRows;

/// The operands of a tile: rows and panels of a product, from some element on.
struct Tile {
  const char* rows_data;
  int64_t row_stride;
  uint8_t row_bits;
  const char* panels;
  int64_t panel_stride;
  int64_t k;
  const SumConversion& conversion;
  /// The factors and offsets of the columns, padded to whole vectors.
  const float* scales;
  const float* offsets;
  int64_t columns;
  char* out;
  int64_t out_row_stride;
  /// The rows after their first panel.
  WidenedRows& widened;
  bool is_first_panel;
};

constexpr int64_t kPanelBytes = kPanelColumns * kPanelDepth;
/// The number of vectors in a panel.
constexpr int kPanelVectors = static_cast<int>(kPanelBytes / simd::kByteLanes);
/// The number of vectors of sums that a tile keeps in registers.
#if defined(__AVX512VNNI__) || defined(__ARM_FEATURE_DOTPROD)
constexpr int kTileVectors = 24;
#else
// The instructions that widen bytes need registers, too.
constexpr int kTileVectors = kVectorRegisters / 2;
#endif
constexpr int kTilePanels = std::clamp(kTileVectors / kPanelVectors / 4, 1, static_cast<int>(kPanels));
constexpr int kTileRows = 12;

/// The number of rows of a tile of `panels` panels.
constexpr int tile_rows(int panels) { return std::clamp(kTileVectors / (panels * kPanelVectors), 1, kTileRows); }

/// The last elements of a row, fewer than 4, padded with zeros.
[[gnu::noinline]] uint32_t load_last_group(const char* elements, int64_t n) {
  uint8_t bytes[kPanelDepth] = {};
  for (int64_t i = 0; i < n && i < kPanelDepth; ++i) {
    bytes[i] = static_cast<uint8_t>(elements[i]);
  }
  uint32_t group;
  std::memcpy(&group, bytes, sizeof(group));
  return group;
}

/// The next 4 elements of a row.
KERNELS_ALWAYS_INLINE inline uint32_t load_group(const char* elements, int64_t n) {
  if (n < kPanelDepth) {
    return load_last_group(elements, n);
  }
  uint32_t group;
  std::memcpy(&group, elements, sizeof(group));
  return group;
}

/// Loads the groups of all columns from element `p` on.
template <int kVectors>
KERNELS_ALWAYS_INLINE inline void load_panels(const Tile& tile, int64_t p, simd::Bytes (&panels)[kVectors]) {
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    panels[j] = simd::load_as<simd::Bytes>(tile.panels + j / kPanelVectors * tile.panel_stride + p * kPanelColumns +
                                           j % kPanelVectors * simd::kByteLanes);
  }
}

#if defined(KERNELS_MULTIPLIES_HALVES)

/// The rows of a tile, widened to 16 bits: the even bytes of each group, and the odd bytes.
struct WidenedRows {
  /// The number of bytes of each row. Longer rows are widened in steps, for each panel again.
  static constexpr int64_t kBytes = 1536;
  alignas(simd::kByteLanes) char even[tile_rows(1)][kBytes];
  alignas(simd::kByteLanes) char odd[tile_rows(1)][kBytes];
};

/// Widens `n` bytes of a row of unsigned bytes.
KERNELS_ALWAYS_INLINE inline void widen(const char* row, int64_t n, simd::Bytes bits, uint8_t row_bits, char* even,
                                        char* odd) {
  int64_t p = 0;
  for (; p + simd::kByteLanes <= n; p += simd::kByteLanes) {
    const simd::Bytes bytes = simd::load_as<simd::Bytes>(row + p) ^ bits;
    simd::store(even + p, simd::even_bytes(bytes));
    simd::store(odd + p, simd::odd_bytes(bytes));
  }
  for (; p < n; p += kPanelDepth) {
    const uint32_t bytes = load_group(row + p, n - p) ^ row_bits * 0x01010101u;
    const uint32_t halves[] = {bytes & 0x00FF00FFu, bytes >> 8 & 0x00FF00FFu};
    std::memcpy(even + p, &halves[0], sizeof(uint32_t));
    std::memcpy(odd + p, &halves[1], sizeof(uint32_t));
  }
}

/// Adds the products of one half of each group.
template <int kRows, int kVectors>
KERNELS_ALWAYS_INLINE inline void add_halves(const char (&rows)[tile_rows(1)][WidenedRows::kBytes], int64_t p,
                                             const simd::Bytes (&panels)[kVectors],
                                             simd::Ints (&totals)[kRows][kVectors]) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    uint32_t group;
    std::memcpy(&group, rows[i] + p, sizeof(group));
    const simd::Bytes row = simd::repeat_group(group);
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      totals[i][j] = simd::add_half_products(totals[i][j], row, panels[j]);
    }
  }
}

/// Adds the products of all groups.
template <int kRows, int kVectors>
KERNELS_ALWAYS_INLINE inline void add_groups(const Tile& tile, simd::Bytes bits,
                                             simd::Ints (&totals)[kRows][kVectors]) {
  WidenedRows& widened = tile.widened;
  for (int64_t first = 0; first < tile.k; first += WidenedRows::kBytes) {
    const int64_t n = std::min(WidenedRows::kBytes, tile.k - first);
    if (tile.is_first_panel || tile.k > WidenedRows::kBytes) {
      for (int i = 0; i < kRows; ++i) {
        widen(tile.rows_data + i * tile.row_stride + first, n, bits, tile.row_bits, widened.even[i], widened.odd[i]);
      }
    }
    for (int64_t p = 0; p < n; p += kPanelDepth) {
      simd::Bytes panels[kVectors];
      simd::Bytes halves[kVectors];
      load_panels(tile, first + p, panels);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        halves[j] = simd::even_chars(panels[j]);
      }
      add_halves(widened.even, p, halves, totals);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        halves[j] = simd::odd_chars(panels[j]);
      }
      add_halves(widened.odd, p, halves, totals);
    }
  }
}

#else

struct WidenedRows {};

template <int kRows, int kVectors>
KERNELS_ALWAYS_INLINE inline void add_group(const Tile& tile, int64_t p, int64_t n, simd::Bytes bits,
                                            simd::Ints (&totals)[kRows][kVectors]) {
  simd::Bytes panels[kVectors];
  load_panels(tile, p, panels);
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    const simd::Bytes row = simd::repeat_group(load_group(tile.rows_data + i * tile.row_stride + p, n)) ^ bits;
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      totals[i][j] = simd::add_products(totals[i][j], row, panels[j]);
    }
  }
}

/// Adds the products of all groups.
template <int kRows, int kVectors>
KERNELS_ALWAYS_INLINE inline void add_groups(const Tile& tile, simd::Bytes bits,
                                             simd::Ints (&totals)[kRows][kVectors]) {
  int64_t p = 0;
  for (; p + kPanelDepth <= tile.k; p += kPanelDepth) {
    add_group(tile, p, kPanelDepth, bits, totals);
  }
  if (p < tile.k) {
    add_group(tile, p, tile.k - p, bits, totals);
  }
}

#endif

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
  constexpr int kVectors = kPanelCount * kPanelVectors;
  simd::Ints totals[kRows][kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      totals[i][j] = simd::Ints{};
    }
  }
  const simd::Bytes bits = simd::repeat_group(tile.row_bits * 0x01010101u);
  add_groups(tile, bits, totals);
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

/// Computes the rows of one tile, at most `rows`, and returns the number of computed rows.
template <int kPanelCount, int kRows>
int64_t compute_some_rows(const Tile& tile, int64_t rows) {
  if constexpr (kRows > 1) {
    if (rows < kRows) {
      return compute_some_rows<kPanelCount, kRows / 2>(tile, rows);
    }
  }
#if KERNELS_HAVE_VECTOR_TABLES
  if (tile.conversion.table != nullptr && simd::has_vector_tables()) {
    compute_table_tile<kRows, kPanelCount>(tile);
    return kRows;
  }
#endif
  compute_plain_tile<kRows, kPanelCount>(tile);
  return kRows;
}

/// Computes the tile of several rows and at most kPanelCount panels, and returns the number of rows.
template <int kPanelCount = kTilePanels>
int64_t compute_tile_at(const IntegerProduct& product, const float* scales, const float* offsets, int64_t row,
                        int64_t column, WidenedRows& widened) {
  const int64_t columns = std::min(kPanelCount * kPanelColumns, product.columns - column);
  if constexpr (kPanelCount > 1) {
    if (columns <= (kPanelCount - 1) * kPanelColumns) {
      return compute_tile_at<kPanelCount - 1>(product, scales, offsets, row, column, widened);
    }
  }
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
                     widened,
                     column == 0};
  return compute_some_rows<kPanelCount, tile_rows(kPanelCount)>(tile, product.rows - row);
}

}  // namespace

bool SumConversion::init(const Tensor& scales, const Tensor& offsets, const std::optional<Tensor>& values,
                         int64_t count, int64_t quant_min, int64_t quant_max, ScalarType out_type) {
  range = {static_cast<float>(quant_min), static_cast<float>(quant_max)};
  table = nullptr;
  has_line = false;
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
#if defined(KERNELS_ROUNDS_ON_LINES)
  if (table != nullptr && !simd::has_vector_tables()) {
    has_line = find_line(table, is_char, static_cast<int>(quant_min), static_cast<int>(quant_max), line);
    if (has_line) {
      table = nullptr;
      range = {line.min, line.max};
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
  WidenedRows widened;
#if defined(KERNELS_MULTIPLIES_HALVES)
  // All panels use the widened rows.
  for (int64_t row = 0, count = 0; row < product.rows; row += count) {
    for (int64_t column = 0; column < product.columns; column += kTilePanels * kPanelColumns) {
      count = compute_tile_at(product, scales, offsets, row, column, widened);
    }
  }
#else
  // The panels of a tile stay in a cache for all rows.
  for (int64_t column = 0; column < product.columns; column += kTilePanels * kPanelColumns) {
    for (int64_t row = 0; row < product.rows;) {
      row += compute_tile_at(product, scales, offsets, row, column, widened);
    }
  }
#endif
  if (product.conversion.table != nullptr && !simd::has_vector_tables()) {
    look_up_rows(product.conversion.table, product.rows, product.columns, product.out_row_stride,
                 reinterpret_cast<uint8_t*>(product.out));
  }
}

}  // namespace rules_executorch::kernels
