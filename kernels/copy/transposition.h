#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// The number of rows and columns of a tile of a transposed copy. All elements of a cache line are in the same tile.
inline constexpr int64_t kTransposedTile = 32;

/// A matrix whose columns are contiguous in the source and whose rows are contiguous in the target.
struct Transposition {
  int64_t element_size;
  int64_t source_stride;  // between the elements of a row, in bytes
  int64_t target_stride;  // between rows, in bytes
};

/// Copies a matrix. `source` and `target` must not overlap.
void copy_transposition(const Transposition& matrix, const char* source, char* target, int64_t rows, int64_t columns);

}  // namespace rules_executorch::kernels
