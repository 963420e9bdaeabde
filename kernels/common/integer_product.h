#pragma once

#include <cstdint>

#include "kernels/common/dtype.h"

namespace rules_executorch::kernels {

/// Products of quantized matrices. Elements of a panel lie as the loops read them: kPanelColumns columns, of each of
/// which kPanelDepth elements follow each other; then the next ones of all columns.
inline constexpr int64_t kPanelColumns = 16;
inline constexpr int64_t kPanelDepth = 4;

/// Panels that are computed together at most.
inline constexpr int64_t kPanels = 3;

/// The bits that make a value of Char one of Byte, 128 larger, and nothing of a value of Byte.
inline uint8_t bits_to_byte(ScalarType type) { return type == ScalarType::Char ? 0x80 : 0; }

/// What becomes of sums: `sum * scale + offset`, rounded to the nearest integer between `min` and `max`, which `table`
/// may give another value. Floats are not rounded.
struct SumConversion {
  const float* scale;
  const float* offset;
  float min;
  float max;
  /// The results of 0 to 255, in which those of Char are the bits of a Byte; null if these stay as they are.
  const uint8_t* table;
  /// Byte, Char or Float.
  ScalarType type;

  /// Whether `out_type` is one of these, for `count` sums, and the parameters are what an operator needs.
  bool init(const Tensor& scales, const Tensor& offsets, const std::optional<Tensor>& values, int64_t count,
            int64_t quant_min, int64_t quant_max, ScalarType out_type);

  /// Stores `n` sums, of which each has a scale and an offset of its own, those from `channel` on.
  void store_channels(const int32_t* sums, int64_t n, int64_t channel, char* out) const;
  /// Stores `n` sums of one channel.
  void store_of_channel(const int32_t* sums, int64_t n, int64_t channel, char* out) const;
  void store_of_channel(const float* sums, int64_t n, int64_t channel, char* out) const;
};

/// `rows` rows of a matrix times some panels, which are the columns of another one: one of these is of Char, the
/// weights, and the other one of Byte. `k` elements are multiplied for each sum; behind them, panels have zeros or what
/// weights of zero are multiplied with.
struct IntegerProduct {
  const char* rows_data;
  int64_t row_stride;
  int64_t rows;
  /// As bits_to_byte says of the rows; 0 for weights.
  uint8_t row_bits;
  const char* panels;
  int64_t panel_stride;
  int64_t columns;
  int64_t k;
  const SumConversion& conversion;
  char* out;
  int64_t out_row_stride;  // in bytes
};

/// Computes a product whose panels are of weights: a column is a channel, of which the first is `channel`.
void multiply_by_weights(const IntegerProduct& product, int64_t channel);

/// Computes a product whose rows are weights: a row is a channel.
void multiply_weights(const IntegerProduct& product, int64_t channel);

}  // namespace rules_executorch::kernels
