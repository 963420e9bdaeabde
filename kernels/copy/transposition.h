#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// Rows and columns of the tiles in which a transposed matrix is copied, so that each line of cache serves several
/// elements of a tile.
inline constexpr int64_t kTransposedTile = 32;

/// A matrix whose columns are dense in the source and whose rows are dense in the target.
struct Transposition {
  int64_t element_size;
  int64_t source_stride;  // between the elements of a row, in bytes
  int64_t target_stride;  // between rows, in bytes
};

/// Copies a matrix; the two do not overlap.
void copy_transposition(const Transposition& matrix, const char* source, char* target, int64_t rows, int64_t columns);

}  // namespace rules_executorch::kernels
