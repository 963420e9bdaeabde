#pragma once

#include <cstdint>

#include "kernels/gemm/layouts.h"
#include "kernels/simd/simd.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Products of quantized matrices. Weights lie in panels, as the loops read them: kPanelColumns columns, of each of
/// which kPanelDepth elements follow each other; then the next ones of all columns.
inline constexpr int64_t kPanelColumns = kBytePanelColumns;
inline constexpr int64_t kPanelDepth = kBytePanelDepth;
static_assert(kPanelDepth == simd::kGroupBytes);

/// Panels that are computed together at most, and their columns.
inline constexpr int64_t kPanels = 4;
inline constexpr int64_t kBlockColumns = kPanels * kPanelColumns;

/// The bits that make a value of Char one of Byte, 128 larger, and nothing of a value of Byte.
inline uint8_t bits_to_byte(ScalarType type) { return type == ScalarType::Char ? 0x80 : 0; }

/// What becomes of sums: `sum * scale + offset`, rounded to the nearest integer of `range`, which `table` may give
/// another value. Floats are not rounded.
struct SumConversion {
  const float* scale;
  const float* offset;
  simd::ByteRange range;
  /// The results of 0 to 255, in which those of Char are the bits of a Byte; null if these stay as they are.
  const uint8_t* table;
  /// Byte, Char or Float.
  ScalarType type;

  /// Whether `out_type` is one of these, for `count` sums, and the parameters are what an operator needs.
  bool init(const Tensor& scales, const Tensor& offsets, const std::optional<Tensor>& values, int64_t count,
            int64_t quant_min, int64_t quant_max, ScalarType out_type);
};

/// `rows` rows of bytes times some panels of weights, of Char. `k` elements are multiplied for each sum; behind them,
/// panels have zeros.
struct IntegerProduct {
  const char* rows_data;
  int64_t row_stride;
  int64_t rows;
  /// As bits_to_byte says of the rows.
  uint8_t row_bits;
  const char* panels;
  int64_t panel_stride;
  int64_t columns;
  int64_t k;
  const SumConversion& conversion;
  char* out;
  int64_t out_row_stride;  // in bytes
};

/// Computes a product: a column is a channel, of which the first is `channel`.
void multiply_by_weights(const IntegerProduct& product, int64_t channel);

}  // namespace rules_executorch::kernels
