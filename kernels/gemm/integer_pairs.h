#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/integer_operands.h"
#include "kernels/simd/simd.h"

/// The sums of a tile by pairs of quads, on arm64.
namespace rules_executorch::kernels::integer {

#if defined(KERNELS_MULTIPLIES_MATRICES) || defined(KERNELS_MULTIPLIES_BY_QUAD)

static_assert(kPanelsOfTile == 1);

/// Loads quad kQuad of each column of a vector, of those from `block` on.
template <int kQuad, typename Tile>
KERNELS_ALWAYS_INLINE inline simd::Bytes quad_of(const char* block, int vector) {
  simd::Bytes quads[Tile::kQuads];
  load_weights(block + kQuad / Tile::kQuads * kPanelBytes + vector * simd::kByteLanes, quads);
  return quads[kQuad % Tile::kQuads];
}

#if defined(KERNELS_MULTIPLIES_MATRICES)

struct Prepared {};

/// Adds the products of pairs of quads. Returns the number of their elements; fewer than a pair are left.
template <int kRows, typename Tile>
KERNELS_ALWAYS_INLINE inline int64_t add_pairs(const Tile& tile, simd::Ints (&totals)[kRows][kVectorsOfPanel]) {
  constexpr int kPairs = (kRows + 1) / 2;
  constexpr int64_t kDepth = 2 * kPanelDepth;
  simd::Ints sums[kPairs][2 * kVectorsOfPanel] = {};
  const char* block = tile.panels;
  // If the number of rows is odd, the last row is its own pair.
  const auto second = [](int i) { return std::min(2 * i + 1, kRows - 1); };
  const char* in = tile.rows;
  const int64_t count = tile.k - tile.k % kDepth;
  for (const char* const end = in + count; in < end; in += kDepth, block += kDepth * Tile::kElementBytes) {
    simd::Bytes rows[kPairs];
#pragma GCC unroll 12
    for (int i = 0; i < kPairs; ++i) {
      rows[i] = simd::load_rows(in + 2 * i * tile.row_stride, in + second(i) * tile.row_stride) ^ tile.bits();
    }
#pragma GCC unroll 4
    for (int j = 0; j < kVectorsOfPanel; ++j) {
      simd::Bytes columns[2];
      simd::interleave_quads(quad_of<0, Tile>(block, j), quad_of<1, Tile>(block, j), columns);
#pragma GCC unroll 12
      for (int i = 0; i < kPairs; ++i) {
        sums[i][2 * j] = simd::add_matrix_products(sums[i][2 * j], rows[i], columns[0]);
        sums[i][2 * j + 1] = simd::add_matrix_products(sums[i][2 * j + 1], rows[i], columns[1]);
      }
      // The compiler would load the next vectors early, and keep sums in memory instead of registers.
      simd::compiler_barrier();
    }
  }
  for_each_vector<kPairs, kVectorsOfPanel>([&](int i, int j) KERNELS_ALWAYS_INLINE {
    simd::Ints of_rows[2];
    simd::rows_of_matrices(sums[i][2 * j], sums[i][2 * j + 1], of_rows);
    totals[2 * i][j] = of_rows[0];
    totals[second(i)][j] = of_rows[second(i) - 2 * i];
  });
  return count;
}

#else

/// Whether add_pair_products() adds the weights of each second quad.
#if defined(KERNELS_MULTIPLIES_PAIRS_OF_QUADS)
inline constexpr bool kPairsAddWeights = true;
#else
inline constexpr bool kPairsAddWeights = false;
#endif

/// The sums that the products of a panel lack, for all rows.
struct Prepared {
  simd::Ints lacking[kVectorsOfPanel];
  /// The panel, from some element on.
  const char* panel = nullptr;

  template <typename Tile>
  void add_panel(const Tile& tile) {
    if (panel == tile.panels) {
      return;
    }
    panel = tile.panels;
    const int64_t quads = Tile::kHasUnsignedRows ? (tile.k + kPanelDepth - 1) / kPanelDepth : 0;
    simd::sums_of_weights(panel, kPanelBytes, quads, lacking);
    simd::Ints of_pairs[kVectorsOfPanel] = {};
    if constexpr (kPairsAddWeights) {
      simd::sums_of_weights(panel + kPanelBytes, 2 * kPanelBytes, tile.k / simd::kByteLanes * 2, of_pairs);
    }
#pragma GCC unroll 4
    for (int j = 0; j < kVectorsOfPanel; ++j) {
      lacking[j] = (lacking[j] << 7) - of_pairs[j];
    }
  }
};

/// Adds the products of quad kQuad of all columns of two vectors from `j` on, and of `rows`.
template <int kQuad, typename Tile, int kRows>
KERNELS_ALWAYS_INLINE inline void add_quad(const simd::Bytes (&rows)[kRows], const char* block, int j,
                                           simd::QuadSums (&sums)[kRows][kVectorsOfPanel]) {
  // A pair of vectors is one load instruction. More vectors would not fit into the registers beside the sums.
  const simd::Bytes columns[] = {quad_of<kQuad, Tile>(block, j), quad_of<kQuad, Tile>(block, j + 1)};
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int l = 0; l < 2; ++l) {
      sums[i][j + l] = simd::add_quad_products<kQuad>(sums[i][j + l], rows[i], columns[l]);
    }
  }
  // The compiler would load the next vectors early, and keep sums in memory instead of registers.
  simd::compiler_barrier();
}

/// Adds the products of quads kQuad and kQuad + 1 of all columns and of `rows`.
template <int kQuad, typename Tile, int kRows>
KERNELS_ALWAYS_INLINE inline void add_pair(const simd::Bytes (&rows)[kRows], const char* block,
                                           simd::QuadSums (&sums)[kRows][kVectorsOfPanel]) {
#if defined(KERNELS_MULTIPLIES_PAIRS_OF_QUADS)
#pragma GCC unroll 4
  for (int j = 0; j < kVectorsOfPanel; ++j) {
    const simd::Bytes first = quad_of<kQuad, Tile>(block, j);
    const simd::Bytes second = quad_of<kQuad + 1, Tile>(block, j);
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      sums[i][j] = simd::add_pair_products<kQuad>(sums[i][j], rows[i], first, second);
    }
    // As in add_quad().
    simd::compiler_barrier();
  }
#else
#pragma GCC unroll 2
  for (int j = 0; j < kVectorsOfPanel; j += 2) {
    add_quad<kQuad, Tile>(rows, block, j, sums);
  }
#pragma GCC unroll 2
  for (int j = 0; j < kVectorsOfPanel; j += 2) {
    add_quad<kQuad + 1, Tile>(rows, block, j, sums);
  }
#endif
}

/// Adds the products of four quads at a time. kFlips is whether bits of the rows are flipped.
template <bool kFlips, int kRows, typename Tile>
KERNELS_ALWAYS_INLINE inline void add_quads_of_rows(const Tile& tile, simd::QuadSums (&sums)[kRows][kVectorsOfPanel]) {
  constexpr int64_t kDepth = simd::kByteLanes;
  const char* block = tile.panels;
  const char* in[kRows];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    in[i] = tile.rows + i * tile.row_stride;
  }
  for (const char* const end = block + tile.k / kDepth * kDepth * Tile::kElementBytes; block < end;
       block += kDepth * Tile::kElementBytes) {
    simd::Bytes rows[kRows];
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      rows[i] = simd::load_as<simd::Bytes>(in[i]);
      in[i] += kDepth;
      if constexpr (kFlips) {
        rows[i] ^= tile.bits();
      }
    }
    simd::compiler_barrier();
    add_pair<0, Tile>(rows, block, sums);
    add_pair<2, Tile>(rows, block, sums);
  }
}

/// Adds the products of four quads at a time, and the sums that lack. Returns the number of their elements.
template <int kRows, typename Tile>
KERNELS_ALWAYS_INLINE inline int64_t add_pairs(const Tile& tile, simd::Ints (&totals)[kRows][kVectorsOfPanel]) {
  simd::QuadSums sums[kRows][kVectorsOfPanel] = {};
  // Without bits to flip, the registers are enough for all sums.
  if (Tile::kHasUnsignedRows && tile.row_bits != simd::kFlippedBits) {
    add_quads_of_rows<true>(tile, sums);
  } else {
    add_quads_of_rows<false>(tile, sums);
  }
  constexpr bool kLacksSums = Tile::kHasUnsignedRows || kPairsAddWeights;
  if constexpr (kLacksSums) {
    tile.prepared.add_panel(tile);
  }
  for_each_vector<kRows, kVectorsOfPanel>([&](int i, int j) KERNELS_ALWAYS_INLINE {
    totals[i][j] = simd::total(sums[i][j]);
    if constexpr (kLacksSums) {
      totals[i][j] += tile.prepared.lacking[j];
    }
  });
  return tile.k - tile.k % simd::kByteLanes;
}

#endif
#endif

}  // namespace rules_executorch::kernels::integer
