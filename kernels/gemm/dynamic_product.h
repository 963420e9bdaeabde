#pragma once

#include <cstdint>

#include "kernels/gemm/layouts.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The quantization of a row: the value of a byte is `(byte - zero_point) * scale`.
struct RowParameters {
  float scale;
  float zero_point;
};

/// The product of rows that were quantized at run time and panels of weights: `out = (total - zero_point * offset) *
/// row_scale + bias`. A total is the sum over all groups of the group's sum times the group's scale.
struct DynamicProduct {
  const uint8_t* rows_data;  // as simd::add_products() reads them, padded with zeros to kBytePanelRowMultiple
  int64_t row_stride;
  const RowParameters* parameters;  // of each row
  const char* panels;
  int64_t panel_stride;
  bool has_nibbles;      // whether a byte of a panel has two weights of 4 bits, kBytePanelDepth elements apart
  const float* scales;   // for each panel and group, the scales of the panel's columns
  const float* offsets;  // for each column, the sum of its weights times their scales
  const float* bias;     // null for none
  char* out;
  ScalarType type;  // of `out`: Float, Half or BFloat16
  int64_t rows;
  int64_t columns;
  int64_t groups;
  int64_t group_size;
};

void multiply_quantized_rows(const DynamicProduct& product);

}  // namespace rules_executorch::kernels
