#pragma once

#include <cstdint>

#include "kernels/gemm/layouts.h"
#include "kernels/math/affine_table.h"
#include "kernels/simd/simd.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Products of quantized matrices. Weights are in panels, in the order in which the loops read them: kPanelDepth
/// consecutive elements of each of kPanelColumns columns, then the next kPanelDepth elements of all these columns.
inline constexpr int64_t kPanelColumns = kBytePanelColumns;
inline constexpr int64_t kPanelDepth = kBytePanelDepth;
static_assert(kPanelDepth == simd::kQuadBytes);

/// The largest number of panels that are computed together, and the number of their columns.
inline constexpr int64_t kPanels = 4;
inline constexpr int64_t kBlockColumns = kPanels * kPanelColumns;

/// The bits to flip in an element: 0x80 converts Char to Byte with an offset of 128, 0 leaves Byte unchanged.
inline uint8_t bits_to_byte(ScalarType type) { return type == ScalarType::Char ? 0x80 : 0; }

/// The conversion of sums: `sum * scale + offset`, rounded to the nearest integer of `range` and then looked up in
/// `table` if there is a table. Floats are not rounded.
struct SumConversion {
  const float* scale;
  const float* offset;
  simd::ByteRange range;
  /// 256 results, indexed by the rounded sum as a Byte (the bits of a Char). Null if there is no table.
  const uint8_t* table;
  /// The affine function of the table, in place of the table, where vectors of sums are rounded so. `range` is the
  /// function's.
  bool is_affine;
  AffineTable affine;
  /// Byte, Char or Float.
  ScalarType type;

  /// Initializes the conversion for `count` sums. Returns false if `out_type` is not one of these dtypes or a parameter
  /// is invalid.
  bool init(const Tensor& scales, const Tensor& offsets, const std::optional<Tensor>& values, int64_t count,
            int64_t quant_min, int64_t quant_max, ScalarType out_type);

  /// Rounds the sums of a vector. `scales` and `offsets` are those of the vector's lanes.
  KERNELS_ALWAYS_INLINE simd::Ints rounded(simd::Ints sums, const float* scales, const float* offsets) const {
#if defined(KERNELS_ROUNDS_AFFINE)
    if (is_affine) {
      return simd::rounded_affine(sums, scales, offsets, affine.scale, affine.offset, range);
    }
#endif
    return simd::rounded(sums, scales, offsets, range);
  }
};

/// The product of `rows` rows of bytes and several panels of Char weights. Each sum has `k` products. The panels are
/// padded with zeros.
struct IntegerProduct {
  const char* rows_data;
  int64_t row_stride;
  int64_t rows;
  /// bits_to_byte() of the rows.
  uint8_t row_bits;
  const char* panels;
  int64_t panel_stride;
  int64_t columns;
  int64_t k;
  const SumConversion& conversion;
  char* out;
  int64_t out_row_stride;  // in bytes
};

/// Computes a product. Each column is a channel; the first one is `channel`.
void multiply_by_weights(const IntegerProduct& product, int64_t channel);

}  // namespace rules_executorch::kernels
