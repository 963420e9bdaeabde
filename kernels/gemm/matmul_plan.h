#pragma once

#include <cstdint>

#include "kernels/gemm/matmul.h"
#include "kernels/gemm/product_loops.h"
#include "kernels/math/divide_up.h"

namespace rules_executorch::kernels {

/// The algorithm and the block sizes of a product, and the layout of its scratch memory.
struct MatrixProduct::Plan {
  /// Padding between panels. Panels at the same offset in different pages would map to the same cache sets.
  static constexpr int64_t kPanelGap = 64;

  enum Way { kTiles, kRows, kDots };

  Way way;
  bool loads_a;
  bool loads_b;
  bool transposes_b;  // the columns of b are contiguous
  bool has_totals;
  bool is_complex;
  int64_t element_size;
  int64_t rows;         // of a block of sums
  int64_t row_bytes;    // bytes of a row of a block of sums, a multiple of kTileBytes
  int64_t depth;        // depth of the blocks of both operands
  int64_t staged_rows;  // rows of the second operand, or columns if transposes_b

  Plan(const MatrixProduct& product, int64_t memory);

  int64_t columns() const { return row_bytes / element_size; }
  int64_t panel_pitch() const { return is_complex ? 2 * kTileBytes : kTileBytes; }
  int64_t panel_stride() const { return depth * panel_pitch() + kPanelGap; }
  int64_t packed_size() const { return loads_a ? rows * depth * element_size : 0; }
  int64_t totals_size() const { return has_totals ? rows * row_bytes : 0; }
  int64_t staged_size() const {
    return !loads_b ? 0 : staged_rows * (transposes_b || way == kDots ? depth * element_size : row_bytes);
  }
  int64_t panels_size() const { return way == kTiles ? row_bytes / kTileBytes * panel_stride() : 0; }
  int64_t size() const { return packed_size() + totals_size() + staged_size() + panels_size(); }
  int64_t count_blocks(const ProductShape& shape) const {
    return shape.batch * divide_up(shape.m, rows) * divide_up(shape.n, columns());
  }

  /// Reduces the size of the blocks until there are `count` of them or the blocks are too small.
  void divide(const ProductShape& shape, int64_t count);

 private:
  void shrink();
};

}  // namespace rules_executorch::kernels
