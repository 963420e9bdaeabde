#pragma once

#include <cstdint>

#include "kernels/gemm/matmul.h"
#include "kernels/gemm/product_loops.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Copies rows of `row_bytes` bytes to rows of panels, `pitch` bytes apart. The last panel is padded with zeros.
void pack_rows(const char* rows, int64_t stride, int64_t count, int64_t row_bytes, char* panels, int64_t panel_stride,
               int64_t pitch);

/// `target[j][i] = source[i][j]`, for elements of `size` bytes.
void transpose(const char* source, int64_t source_stride, int64_t rows, int64_t columns, int64_t size, char* target,
               int64_t target_stride);

/// Reads a block of a matrix to rows of dtype `type`, `stride` bytes apart.
void load_matrix(const ConstMatrices& matrices, int64_t batch, int64_t row, int64_t rows, int64_t column,
                 int64_t columns, ScalarType type, char* target, int64_t stride);

/// After each row of a panel of complex numbers, writes the row multiplied by i. T is the type of the parts.
template <typename T>
void multiply_by_i(char* panel, int64_t rows) {
  constexpr int64_t kParts = kTileBytes / sizeof(T);
  T* row = reinterpret_cast<T*>(panel);
  for (int64_t p = 0; p < rows; ++p, row += 2 * kParts) {
    for (int64_t j = 0; j < kParts; j += 2) {
      row[kParts + j] = -row[j + 1];
      row[kParts + j + 1] = row[j];
    }
  }
}

}  // namespace rules_executorch::kernels
