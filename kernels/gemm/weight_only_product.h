#pragma once

#include <cstdint>

#include "kernels/gemm/layouts.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The number of elements in the bytes of a block: one Char in each byte, or two nibbles. The two nibbles of a byte are
/// half a block apart and have an offset of 8.
template <int kBits>
constexpr int64_t kWeightOnlyBlock = kQuantizedRowBlockBytes * 8 / kBits;

/// The product of rows of floats and quantized weights, which are converted to floats when they are loaded.
struct WeightOnlyProduct {
  const float* in;
  const char* weight;  // a row for each column of the product
  bool has_nibbles;    // whether a byte has two weights of 4 bits
  const float* scale;  // for each column, one for each group
  const float* bias;   // null for none
  char* out;
  ScalarType type;  // of `out`: Float, Half or BFloat16
  int64_t rows;
  int64_t k;
  int64_t columns;
  int64_t groups;  // groups of a row, whole blocks; with one group of Chars, k can be any number
};

void multiply_by_quantized_weights(const WeightOnlyProduct& product);

}  // namespace rules_executorch::kernels
