#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/gemm/integer_operands.h"
#include "kernels/gemm/integer_pairs.h"
#include "kernels/simd/simd.h"

/// The micro-kernels of bytes. A micro-kernel computes a tile of MR = tile_rows() rows and the NR columns of some
/// panels, with a KR of kPanelDepth. Operands is the record of how it reads rows and panels, and sum_products() returns
/// its sums. The epilogue is of the product, whose tiles compute_tiles() computes.
///
/// Instruction sets multiply bytes in several ways, each with a function: rows that were widened to 16 bits
/// (KERNELS_MULTIPLIES_SHORTS), nibbles with 16-bit sums (KERNELS_ADDS_NIBBLES_IN_SHORTS), pairs of quads as matrices
/// of two rows (KERNELS_MULTIPLIES_MATRICES) or of one vector (KERNELS_MULTIPLIES_BY_QUAD), and two vectors.
namespace rules_executorch::kernels::integer {

/// Loads the blocks of all columns from element `p` on.
template <int kVectors, typename Tile>
KERNELS_ALWAYS_INLINE inline void load_panels(const Tile& tile, int64_t p,
                                              simd::Bytes (&panels)[kVectors][Tile::kQuads]) {
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    load_weights(tile.panels + j / kVectorsOfPanel * tile.panel_stride + p * Tile::kElementBytes +
                     j % kVectorsOfPanel * simd::kByteLanes,
                 panels[j]);
  }
}

#if defined(KERNELS_MULTIPLIES_SHORTS)

/// The rows of a tile, widened to 16 bits for all panels: the even bytes of each quad, and the odd bytes.
struct Prepared {
  /// The number of bytes of each row. Longer rows are widened in steps, for each panel again.
  static constexpr int64_t kBytes = 1536;
  alignas(simd::kByteLanes) char even[tile_rows(1)][kBytes];
  alignas(simd::kByteLanes) char odd[tile_rows(1)][kBytes];
  /// The first of the elements.
  const char* rows = nullptr;
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

/// Adds the products of the even or the odd bytes of one quad of all rows. `widen_weights` widens those of the panels.
template <int kRows, int kVectors, typename Widen>
KERNELS_ALWAYS_INLINE inline void add_half_quads(const char (&rows)[tile_rows(1)][Prepared::kBytes], int64_t p,
                                                 const simd::Bytes (&panels)[kVectors][1], const Widen& widen_weights,
                                                 simd::Ints (&totals)[kRows][kVectors]) {
  simd::Bytes weights[kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    weights[j] = widen_weights(panels[j][0]);
  }
  // One row at a time, and half of its quad, so that all sums stay in registers.
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    const simd::Bytes row = simd::repeat_quad(simd::load_as<uint32_t>(rows[i] + p));
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      totals[i][j] = simd::add_short_products(totals[i][j], row, weights[j]);
    }
  }
}

/// Adds the products of one quad of all rows.
template <int kRows, int kVectors, typename Tile>
KERNELS_ALWAYS_INLINE inline void add_shorts(const Tile& tile, int64_t first, int64_t p,
                                             simd::Ints (&totals)[kRows][kVectors]) {
  simd::Bytes panels[kVectors][1];
  load_panels(tile, first + p, panels);
  add_half_quads(tile.prepared.even, p, panels, simd::even_chars, totals);
  add_half_quads(tile.prepared.odd, p, panels, simd::odd_chars, totals);
}

/// Adds the products of all quads of widened rows.
template <int kRows, int kVectors, typename Tile>
KERNELS_ALWAYS_INLINE inline void add_widened(const Tile& tile, simd::Ints (&totals)[kRows][kVectors]) {
  Prepared& widened = tile.prepared;
  for (int64_t first = 0; first < tile.k; first += Prepared::kBytes) {
    const char* const rows = tile.rows + first;
    const int64_t n = std::min(Prepared::kBytes, tile.k - first);
    if (widened.rows != rows) {
      widened.rows = rows;
      for (int i = 0; i < kRows; ++i) {
        widen(rows + i * tile.row_stride, n, tile.bits(), tile.row_bits, widened.even[i], widened.odd[i]);
      }
    }
    for (int64_t p = 0; p < n; p += kPanelDepth) {
      add_shorts(tile, first, p, totals);
    }
  }
}

#elif !defined(KERNELS_MULTIPLIES_MATRICES) && !defined(KERNELS_MULTIPLIES_BY_QUAD)

struct Prepared {};

#endif

/// Calls `add(row, vector, quad, x, weights)` for the quads of a block of all columns, from element `p` on, of which
/// rows have `n` elements.
template <int kRows, int kVectors, typename Tile, typename Add>
KERNELS_ALWAYS_INLINE inline void add_block(const Tile& tile, int64_t p, int64_t n, const Add& add) {
  simd::Bytes panels[kVectors][Tile::kQuads];
  load_panels(tile, p, panels);
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int quad = 0; quad < Tile::kQuads; ++quad) {
      const int64_t at = quad * kPanelDepth;
      const char* const elements = tile.rows + i * tile.row_stride + p + at;
      const simd::Bytes row = simd::repeat_quad(load_quad(elements, n - at)) ^ tile.bits();
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        add(i, j, quad, row, panels[j][quad]);
      }
    }
  }
}

/// Adds the products of all quads from element `p` on.
template <int kRows, int kVectors, typename Tile>
KERNELS_ALWAYS_INLINE inline void add_quads(const Tile& tile, int64_t p, simd::Ints (&totals)[kRows][kVectors]) {
  constexpr int64_t kDepth = kPanelDepth * Tile::kQuads;
  // With one row, two chains of sums hide the latency of the products of nibbles.
  simd::Ints chain[1][kVectors];
  for_each_vector<1, kVectors>([&](int i, int j) KERNELS_ALWAYS_INLINE { chain[i][j] = simd::Ints{}; });
  const auto add = [&](int i, int j, int quad, simd::Bytes x, simd::Bytes weights) KERNELS_ALWAYS_INLINE {
    simd::Ints& sum = kRows == 1 && quad == 1 ? chain[0][j] : totals[i][j];
    sum = simd::add_products(sum, x, weights);
  };
  for (; p + kDepth <= tile.k; p += kDepth) {
    add_block<kRows, kVectors>(tile, p, kDepth, add);
  }
  if constexpr (Tile::kHasUnsignedRows) {
    if (p < tile.k) {
      add_block<kRows, kVectors>(tile, p, tile.k - p, add);
    }
  }
  if constexpr (kRows == 1 && Tile::kQuads == 2) {
    for_each_vector<1, kVectors>([&](int i, int j) KERNELS_ALWAYS_INLINE {
      const auto sum = simd::integers_of(totals[i][j]) + simd::integers_of(chain[i][j]);
      totals[i][j] = simd::load_as<simd::Ints>(&sum);
    });
  }
}

#if defined(KERNELS_ADDS_NIBBLES_IN_SHORTS)

/// Adds the products of all quads of nibbles, first in 16-bit sums.
template <int kRows, int kVectors, typename Tile>
KERNELS_ALWAYS_INLINE inline void add_nibbles(const Tile& tile, simd::Ints (&totals)[kRows][kVectors]) {
  for (int64_t p = 0; p < tile.k;) {
    simd::Shorts sums[kRows][kVectors];
    for_each_vector<kRows, kVectors>([&](int i, int j) KERNELS_ALWAYS_INLINE { sums[i][j] = simd::Shorts{}; });
    for (const int64_t end = std::min(p + simd::kShortsDepth, tile.k); p < end; p += kBytePanelRowMultiple) {
      add_block<kRows, kVectors>(tile, p, kBytePanelRowMultiple,
                                 [&](int i, int j, int, simd::Bytes x, simd::Bytes weights) KERNELS_ALWAYS_INLINE {
                                   sums[i][j] = simd::add_to_shorts(sums[i][j], x, weights);
                                 });
    }
    for_each_vector<kRows, kVectors>(
        [&](int i, int j) KERNELS_ALWAYS_INLINE { totals[i][j] = simd::add_shorts(totals[i][j], sums[i][j]); });
  }
}

#endif

/// Computes the sums of a tile.
template <int kRows, int kVectors, typename Tile>
KERNELS_ALWAYS_INLINE inline void sum_products(const Tile& tile, simd::Ints (&totals)[kRows][kVectors]) {
  for_each_vector<kRows, kVectors>([&](int i, int j) KERNELS_ALWAYS_INLINE { totals[i][j] = simd::Ints{}; });
#if defined(KERNELS_ADDS_NIBBLES_IN_SHORTS)
  if constexpr (Tile::kBits == 4) {
    add_nibbles(tile, totals);
  } else
#endif
#if defined(KERNELS_MULTIPLIES_SHORTS)
      if constexpr (Tile::kHasUnsignedRows) {
    add_widened(tile, totals);
  } else
#endif
  {
    int64_t p = 0;
#if defined(KERNELS_MULTIPLIES_MATRICES) || defined(KERNELS_MULTIPLIES_BY_QUAD)
    // One row would use half of a matrix, and waits for memory.
    if constexpr (kRows > 1 || (Tile::kHasUnsignedRows && simd::kMultipliesSignedBytes)) {
      p = add_pairs(tile, totals);
    }
#endif
    add_quads(tile, p, totals);
  }
}

/// Rows and columns of a product.
struct Block {
  int64_t row;
  int64_t end_row;
  int64_t column;
  int64_t end_column;
};

/// The number of rows of the tile that computes the next of `left` rows, of a block of `rows` rows. Tiles have `most`
/// rows, half as many, and so on down to one. A tile with more than `left` rows repeats rows before them.
constexpr int64_t rows_of_tile(int64_t most, int64_t left, int64_t rows) {
  while (most > 1 && (most / 2 >= left || most > rows)) {
    most /= 2;
  }
  return most;
}

/// Computes a tile of `rows` rows, which rows_of_tile() returned.
template <int kPanelCount, int kRows, typename Tiles>
void compute_rows(const Tiles& tiles, int64_t rows, int64_t row, int64_t column, int64_t count) {
  if constexpr (kRows > 1) {
    if (rows < kRows) {
      compute_rows<kPanelCount, kRows / 2>(tiles, rows, row, column, count);
      return;
    }
  }
  tiles.template compute<kRows, kPanelCount>(row, column, count);
}

/// Computes the tile of several rows and at most kPanelCount panels. Returns the first row after the tile.
template <int kPanelCount = kPanelsOfTile, typename Tiles>
int64_t compute_tile_at(const Tiles& tiles, const Block& block, int64_t row, int64_t column) {
  const int64_t count = std::min(kPanelCount * kPanelColumns, block.end_column - column);
  if constexpr (kPanelCount > 1) {
    if (count <= (kPanelCount - 1) * kPanelColumns) {
      return compute_tile_at<kPanelCount - 1>(tiles, block, row, column);
    }
  }
  constexpr int kRows = std::min(tile_rows(kPanelCount), Tiles::kMostRows);
  const int64_t rows = rows_of_tile(kRows, block.end_row - row, block.end_row - block.row);
  row = std::min(row, block.end_row - rows);
  compute_rows<kPanelCount, kRows>(tiles, rows, row, column, count);
  return row + rows;
}

/// Computes the tiles of a block. `Tiles` has `compute<kRows, kPanelCount>(row, column, count)`, which computes a tile
/// of `count` columns; kMostRows, the most rows of a tile; and kWidensRows, whether the tiles of widened rows follow
/// each other.
template <typename Tiles>
void compute_tiles(const Tiles& tiles, const Block& block) {
  constexpr int64_t kTileColumns = kPanelsOfTile * kPanelColumns;
  if constexpr (Tiles::kWidensRows) {
    for (int64_t row = block.row, end = row; row < block.end_row; row = end) {
      for (int64_t column = block.column; column < block.end_column; column += kTileColumns) {
        end = compute_tile_at(tiles, block, row, column);
      }
    }
  } else {
    // The panels of a tile stay in a cache for all rows.
    for (int64_t column = block.column; column < block.end_column; column += kTileColumns) {
      for (int64_t row = block.row; row < block.end_row;) {
        row = compute_tile_at(tiles, block, row, column);
      }
    }
  }
}

}  // namespace rules_executorch::kernels::integer
