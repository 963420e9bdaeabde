#pragma once

#include <cstdint>

#include "kernels/gemm/product_loops.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// The second operand of products, packed into panels once for many first operands.
struct Panels {
  char* data;
  int64_t rows;

  /// The number of columns of a panel. The last panel is padded with zeros.
  static constexpr int64_t columns(int64_t element_size) { return kTileBytes / element_size; }
  static constexpr int64_t count(int64_t columns, int64_t element_size) {
    return (columns * element_size + kTileBytes - 1) / kTileBytes;
  }
  static constexpr int64_t size(int64_t rows, int64_t columns, int64_t element_size) {
    return count(columns, element_size) * rows * kTileBytes;
  }

  char* at(int64_t panel, int64_t row) const { return data + (panel * rows + row) * kTileBytes; }
};

/// Packs a matrix of floats or doubles, a 2-dim view with as many rows as the panels.
void pack(const ConstStridedView& matrix, const Panels& panels);

}  // namespace rules_executorch::kernels
