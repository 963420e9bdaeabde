#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/gemm/integer_product.h"
#include "kernels/simd/simd.h"
#include "kernels/simd/width.h"

/// The sums of a tile of an IntegerProduct. Prepared and add_quads() are defined once for each way in which
/// instruction sets multiply bytes: as 16-bit integers (KERNELS_MULTIPLIES_SHORTS), as matrices of two rows
/// (KERNELS_MULTIPLIES_MATRICES), a vector by one quad of another vector (KERNELS_MULTIPLIES_BY_QUAD), or two
/// vectors.
namespace rules_executorch::kernels::integer {

/// What is computed once for several tiles.
struct Prepared;

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
  Prepared& prepared;
  bool is_first_panel;
};

inline constexpr int64_t kPanelBytes = kPanelColumns * kPanelDepth;
/// The number of vectors in a panel.
inline constexpr int kVectorsOfPanel = static_cast<int>(kPanelBytes / simd::kByteLanes);
/// The number of vectors of sums that a tile keeps in registers.
#if defined(__AVX512VNNI__) || defined(KERNELS_MULTIPLIES_MATRICES)
inline constexpr int kVectorsOfTile = 24;
#elif defined(KERNELS_MULTIPLIES_BY_QUAD)
// Sums of two vectors leave fewer registers for products.
inline constexpr int kVectorsOfTile = sizeof(simd::QuadSums) == sizeof(simd::Ints) ? 24 : 8;
#else
// The instructions that widen bytes need registers, too.
inline constexpr int kVectorsOfTile = kVectorRegisters / 2;
#endif
inline constexpr int kPanelsOfTile = std::clamp(kVectorsOfTile / kVectorsOfPanel / 4, 1, static_cast<int>(kPanels));
inline constexpr int kRowsOfTile = 12;

/// The number of rows of a tile of `panels` panels.
constexpr int tile_rows(int panels) { return std::clamp(kVectorsOfTile / (panels * kVectorsOfPanel), 1, kRowsOfTile); }

/// The last elements of a row, fewer than 4, padded with zeros.
[[gnu::noinline]] inline uint32_t load_last_quad(const char* elements, int64_t n) {
  uint8_t bytes[kPanelDepth] = {};
  for (int64_t i = 0; i < n && i < kPanelDepth; ++i) {
    bytes[i] = static_cast<uint8_t>(elements[i]);
  }
  uint32_t quad;
  std::memcpy(&quad, bytes, sizeof(quad));
  return quad;
}

/// The next 4 elements of a row.
KERNELS_ALWAYS_INLINE inline uint32_t load_quad(const char* elements, int64_t n) {
  if (n < kPanelDepth) {
    return load_last_quad(elements, n);
  }
  uint32_t quad;
  std::memcpy(&quad, elements, sizeof(quad));
  return quad;
}

/// Loads the quads of all columns from element `p` on.
template <int kVectors>
KERNELS_ALWAYS_INLINE inline void load_panels(const Tile& tile, int64_t p, simd::Bytes (&panels)[kVectors]) {
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    panels[j] = simd::load_as<simd::Bytes>(tile.panels + j / kVectorsOfPanel * tile.panel_stride + p * kPanelColumns +
                                           j % kVectorsOfPanel * simd::kByteLanes);
  }
}

#if defined(KERNELS_MULTIPLIES_SHORTS)

/// The rows of a tile, widened to 16 bits for all panels: the even bytes of each quad, and the odd bytes.
struct Prepared {
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
    const uint32_t bytes = load_quad(row + p, n - p) ^ row_bits * 0x01010101u;
    const uint32_t shorts[] = {bytes & 0x00FF00FFu, bytes >> 8 & 0x00FF00FFu};
    std::memcpy(even + p, &shorts[0], sizeof(uint32_t));
    std::memcpy(odd + p, &shorts[1], sizeof(uint32_t));
  }
}

/// Adds the products of one quad of all rows. The widened weights of one vector at a time are in registers.
template <int kRows, int kVectors>
KERNELS_ALWAYS_INLINE inline void add_shorts(const Tile& tile, int64_t first, int64_t p,
                                             simd::Ints (&totals)[kRows][kVectors]) {
  const Prepared& widened = tile.prepared;
  simd::Bytes even[kRows];
  simd::Bytes odd[kRows];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    even[i] = simd::repeat_quad(simd::load_as<uint32_t>(widened.even[i] + p));
    odd[i] = simd::repeat_quad(simd::load_as<uint32_t>(widened.odd[i] + p));
  }
  simd::Bytes panels[kVectors];
  load_panels(tile, first + p, panels);
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    const simd::Bytes even_weights = simd::even_chars(panels[j]);
    const simd::Bytes odd_weights = simd::odd_chars(panels[j]);
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      totals[i][j] = simd::add_short_products(totals[i][j], even[i], even_weights);
      totals[i][j] = simd::add_short_products(totals[i][j], odd[i], odd_weights);
    }
  }
}

/// Adds the products of all quads.
template <int kRows, int kVectors>
KERNELS_ALWAYS_INLINE inline void add_quads(const Tile& tile, simd::Bytes bits, simd::Ints (&totals)[kRows][kVectors]) {
  Prepared& widened = tile.prepared;
  for (int64_t first = 0; first < tile.k; first += Prepared::kBytes) {
    const int64_t n = std::min(Prepared::kBytes, tile.k - first);
    if (tile.is_first_panel || tile.k > Prepared::kBytes) {
      for (int i = 0; i < kRows; ++i) {
        widen(tile.rows_data + i * tile.row_stride + first, n, bits, tile.row_bits, widened.even[i], widened.odd[i]);
      }
    }
    for (int64_t p = 0; p < n; p += kPanelDepth) {
      add_shorts(tile, first, p, totals);
    }
  }
}

#elif defined(KERNELS_MULTIPLIES_MATRICES)

struct Prepared {};

/// Adds the products of pairs of rows and of the columns of two blocks, `block` and `next`.
template <int kPairs>
KERNELS_ALWAYS_INLINE inline void add_matrices(const simd::Bytes (&rows)[kPairs], const char* block, const char* next,
                                               simd::Ints (&sums)[kPairs][2 * kVectorsOfPanel]) {
#pragma GCC unroll 4
  for (int j = 0; j < kVectorsOfPanel; ++j) {
    simd::Bytes columns[2];
    simd::interleave_quads(simd::load_as<simd::Bytes>(block + j * simd::kByteLanes),
                           simd::load_as<simd::Bytes>(next + j * simd::kByteLanes), columns);
#pragma GCC unroll 12
    for (int i = 0; i < kPairs; ++i) {
      sums[i][2 * j] = simd::add_matrix_products(sums[i][2 * j], rows[i], columns[0]);
      sums[i][2 * j + 1] = simd::add_matrix_products(sums[i][2 * j + 1], rows[i], columns[1]);
    }
    // The compiler would load the next vectors early, and keep sums in memory instead of registers.
    simd::compiler_barrier();
  }
}

/// Adds the products of all quads.
template <int kRows>
KERNELS_ALWAYS_INLINE inline void add_quads(const Tile& tile, simd::Bytes bits,
                                            simd::Ints (&totals)[kRows][kVectorsOfPanel]) {
  constexpr int kPairs = (kRows + 1) / 2;
  constexpr int64_t kDepth = 2 * kPanelDepth;
  const char* in = tile.rows_data;
  const int64_t stride = tile.row_stride;
  const char* block = tile.panels;
  simd::Ints sums[kPairs][2 * kVectorsOfPanel] = {};
  simd::Bytes rows[kPairs];
  int64_t left = tile.k;
  // If the number of rows is odd, the last row is its own pair.
  const auto second = [](int i) { return std::min(2 * i + 1, kRows - 1); };
  for (; left >= kDepth; left -= kDepth, in += kDepth, block += 2 * kPanelBytes) {
#pragma GCC unroll 12
    for (int i = 0; i < kPairs; ++i) {
      rows[i] = simd::load_rows(in + 2 * i * stride, in + second(i) * stride) ^ bits;
    }
    add_matrices(rows, block, block + kPanelBytes, sums);
  }
  if (left > 0) {
    constexpr char kZeros[kPanelBytes] = {};
#pragma GCC unroll 12
    for (int i = 0; i < kPairs; ++i) {
      char last[2][kDepth] = {};
      std::memcpy(last[0], in + 2 * i * stride, left);
      std::memcpy(last[1], in + second(i) * stride, left);
      rows[i] = simd::load_rows(last[0], last[1]) ^ bits;
    }
    add_matrices(rows, block, left > kPanelDepth ? block + kPanelBytes : kZeros, sums);
  }
#pragma GCC unroll 12
  for (int i = 0; i < kPairs; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectorsOfPanel; ++j) {
      simd::Ints of_rows[2];
      simd::rows_of_matrices(sums[i][2 * j], sums[i][2 * j + 1], of_rows);
      totals[2 * i][j] = of_rows[0];
      totals[second(i)][j] = of_rows[second(i) - 2 * i];
    }
  }
}

#elif defined(KERNELS_MULTIPLIES_BY_QUAD)

/// The sums that the products of a panel lack, for all rows.
struct Prepared {
  simd::Ints lacking[kVectorsOfPanel];

  void add_panel(const char* panel, int64_t k) {
    for (int j = 0; j < kVectorsOfPanel; ++j, panel += simd::kByteLanes) {
      lacking[j] = simd::lacking_sums(panel, kPanelBytes, (k + kPanelDepth - 1) / kPanelDepth);
#if defined(KERNELS_MULTIPLIES_PAIRS_OF_QUADS)
      // add_pair_products() adds the weights of each second quad.
      lacking[j] -= simd::sums_of_weights(panel + kPanelBytes, 2 * kPanelBytes, k / simd::kByteLanes * 2);
#endif
    }
  }
};
static_assert(kPanelsOfTile == 1);

/// Adds the products of one quad of `rows` and a block of a panel.
template <int kQuad, int kRows>
KERNELS_ALWAYS_INLINE inline void add_quad(const simd::Bytes (&rows)[kRows], const char* block,
                                           simd::QuadSums (&sums)[kRows][kVectorsOfPanel]) {
#pragma GCC unroll 4
  for (int j = 0; j < kVectorsOfPanel; ++j) {
    const auto weights = simd::load_as<simd::Bytes>(block + j * simd::kByteLanes);
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      sums[i][j] = simd::add_quad_products<kQuad>(sums[i][j], rows[i], weights);
    }
    // The compiler would load the next vectors early, and keep sums in memory instead of registers.
    simd::compiler_barrier();
  }
}

#if defined(KERNELS_MULTIPLIES_PAIRS_OF_QUADS)

/// Adds the products of two quads of `rows` and two blocks of a panel. `complements` are those of the rows.
template <int kQuad, int kRows>
KERNELS_ALWAYS_INLINE inline void add_pair(const simd::Bytes (&rows)[kRows], const simd::Bytes (&complements)[kRows],
                                           const char* block, simd::QuadSums (&sums)[kRows][kVectorsOfPanel]) {
#pragma GCC unroll 4
  for (int j = 0; j < kVectorsOfPanel; ++j, block += simd::kByteLanes) {
    const auto first = simd::load_as<simd::Bytes>(block);
    const auto second = simd::load_as<simd::Bytes>(block + kPanelBytes);
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      sums[i][j] = simd::add_pair_products<kQuad>(sums[i][j], rows[i], complements[i], first, second);
    }
    // The compiler would load the next vectors early, and keep sums in memory instead of registers.
    simd::compiler_barrier();
  }
}

#endif

/// Adds the products of four quads of `rows` and four blocks of a panel.
template <int kRows>
KERNELS_ALWAYS_INLINE inline void add_four_quads(const simd::Bytes (&rows)[kRows], const char* block,
                                                 simd::QuadSums (&sums)[kRows][kVectorsOfPanel]) {
#if defined(KERNELS_MULTIPLIES_PAIRS_OF_QUADS)
  simd::Bytes complements[kRows];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    complements[i] = ~rows[i];
  }
  add_pair<0>(rows, complements, block, sums);
  add_pair<2>(rows, complements, block + 2 * kPanelBytes, sums);
#else
  add_quad<0>(rows, block, sums);
  add_quad<1>(rows, block + kPanelBytes, sums);
  add_quad<2>(rows, block + 2 * kPanelBytes, sums);
  add_quad<3>(rows, block + 3 * kPanelBytes, sums);
#endif
}

/// Adds the products of all quads.
template <int kRows>
KERNELS_ALWAYS_INLINE inline void add_quads(const Tile& tile, simd::Bytes bits,
                                            simd::Ints (&totals)[kRows][kVectorsOfPanel]) {
  const char* in = tile.rows_data;
  const int64_t stride = tile.row_stride;
  const char* block = tile.panels;
  simd::QuadSums sums[kRows][kVectorsOfPanel] = {};
  simd::Bytes rows[kRows];
  int64_t left = tile.k;
  for (; left >= simd::kByteLanes; left -= simd::kByteLanes, in += simd::kByteLanes, block += 4 * kPanelBytes) {
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      rows[i] = simd::load_as<simd::Bytes>(in + i * stride) ^ bits;
    }
    add_four_quads(rows, block, sums);
  }
  for (; left > 0; left -= kPanelDepth, in += kPanelDepth, block += kPanelBytes) {
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      rows[i] = simd::repeat_quad(load_quad(in + i * stride, left)) ^ bits;
    }
    add_quad<0>(rows, block, sums);
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectorsOfPanel; ++j) {
      totals[i][j] = simd::total(sums[i][j]) + tile.prepared.lacking[j];
    }
  }
}

#else

struct Prepared {};

template <int kRows, int kVectors>
KERNELS_ALWAYS_INLINE inline void add_quad(const Tile& tile, int64_t p, int64_t n, simd::Bytes bits,
                                           simd::Ints (&totals)[kRows][kVectors]) {
  simd::Bytes panels[kVectors];
  load_panels(tile, p, panels);
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    const simd::Bytes row = simd::repeat_quad(load_quad(tile.rows_data + i * tile.row_stride + p, n)) ^ bits;
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      totals[i][j] = simd::add_products(totals[i][j], row, panels[j]);
    }
  }
}

/// Adds the products of all quads.
template <int kRows, int kVectors>
KERNELS_ALWAYS_INLINE inline void add_quads(const Tile& tile, simd::Bytes bits, simd::Ints (&totals)[kRows][kVectors]) {
  int64_t p = 0;
  for (; p + kPanelDepth <= tile.k; p += kPanelDepth) {
    add_quad(tile, p, kPanelDepth, bits, totals);
  }
  if (p < tile.k) {
    add_quad(tile, p, tile.k - p, bits, totals);
  }
}

#endif

}  // namespace rules_executorch::kernels::integer
