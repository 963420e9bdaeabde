#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/integer_product.h"
#include "kernels/simd/simd.h"
#include "kernels/simd/width.h"

/// The operands of the micro-kernels of bytes: their record, the sizes of a tile, and the loads of rows and panels.
namespace rules_executorch::kernels::integer {

/// What is computed once for several tiles.
struct Prepared;

/// The operands of a tile: rows and panels of a product, from some element on.
///
///   kWeightBits: the bits of a weight. With 4, a byte has two weights, kPanelDepth elements apart, and sums are those
///       of simd::kNibbleFactor times the weights.
///   kIsUnsigned: whether sums are those of unsigned bytes, to which `row_bits` converts. If not, `row_bits` is 0, rows
///       are as simd::add_products() reads them, and `k` is a multiple of kBytePanelRowMultiple.
template <int kWeightBits, bool kIsUnsigned>
struct Operands {
  static constexpr int kBits = kWeightBits;
  static constexpr bool kHasUnsignedRows = kIsUnsigned;
  /// The quads of a column in a block.
  static constexpr int kQuads = 8 / kWeightBits;
  /// The bytes of an element of all columns of a panel.
  static constexpr int64_t kElementBytes = kPanelColumns * kWeightBits / 8;

  const char* rows;
  int64_t row_stride;
  const char* panels;
  int64_t panel_stride;
  int64_t k;
  Prepared& prepared;
  uint8_t row_bits = 0;

  /// The bits to flip in each byte of a row before it is multiplied.
  KERNELS_ALWAYS_INLINE simd::Bytes bits() const {
    return simd::repeat_quad(kIsUnsigned ? (row_bits ^ simd::kFlippedBits) * 0x01010101u : 0);
  }
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
  return simd::load_as<uint32_t>(bytes);
}

/// The next 4 elements of a row.
KERNELS_ALWAYS_INLINE inline uint32_t load_quad(const char* elements, int64_t n) {
  return n < kPanelDepth ? load_last_quad(elements, n) : simd::load_as<uint32_t>(elements);
}

/// Loads the weights of a vector of a block: a quad of each column or, of nibbles, two.
KERNELS_ALWAYS_INLINE inline void load_weights(const char* block, simd::Bytes (&quads)[1]) {
  quads[0] = simd::load_as<simd::Bytes>(block);
}
KERNELS_ALWAYS_INLINE inline void load_weights(const char* block, simd::Bytes (&quads)[2]) {
  const simd::Nibbles nibbles = simd::nibbles_of(simd::load_as<simd::Bytes>(block));
  quads[0] = nibbles.lower;
  quads[1] = nibbles.higher;
}

/// Calls `function(row, vector)` for the vectors of a tile, whose loops are unrolled.
template <int kRows, int kVectors, typename Function>
KERNELS_ALWAYS_INLINE inline void for_each_vector(const Function& function) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      function(i, j);
    }
  }
}

}  // namespace rules_executorch::kernels::integer
