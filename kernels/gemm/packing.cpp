#include "kernels/gemm/packing.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/gemm/panels.h"
#include "kernels/gemm/product_loops.h"
#include "kernels/parallel/block.h"
#include "kernels/simd/simd.h"
#include "kernels/simd/width.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {

namespace {

#ifdef KERNELS_HAVE_SHUFFLES

template <typename T, int... I>
void transpose_square(const char* source, int64_t source_stride, char* target, int64_t target_stride,
                      std::integer_sequence<int, I...>) {
  simd::Vector<T> rows[] = {simd::load(reinterpret_cast<const T*>(source + I * source_stride))...};
  // Large matrices are not in the cache. Prefetches the following rows, which are usually needed next.
  (simd::prefetch(source + (int{sizeof...(I)} + I) * source_stride), ...);
  simd::transpose(rows);
  (simd::store(reinterpret_cast<T*>(target + I * target_stride), rows[I]), ...);
}

#endif

/// `target[j][i] = source[i][j]`.
template <typename T>
void transpose(const char* source, int64_t source_stride, int64_t rows, int64_t columns, char* target,
               int64_t target_stride) {
  constexpr int64_t kSize = sizeof(T);
  int64_t whole_rows = 0;
  int64_t whole_columns = 0;
#ifdef KERNELS_HAVE_SHUFFLES
  constexpr int64_t kLanes = simd::kLanes<T>;
  whole_rows = rows / kLanes * kLanes;
  whole_columns = columns / kLanes * kLanes;
  for (int64_t i = 0; i < whole_rows; i += kLanes) {
    for (int64_t j = 0; j < whole_columns; j += kLanes) {
      transpose_square<T>(source + i * source_stride + j * kSize, source_stride, target + j * target_stride + i * kSize,
                          target_stride, std::make_integer_sequence<int, kLanes>());
    }
  }
#endif
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j) {
      std::memcpy(target + j * target_stride + i * kSize, source + i * source_stride + j * kSize, kSize);
    }
  }
}

}  // namespace

void pack_rows(const char* rows, int64_t stride, int64_t count, int64_t row_bytes, char* panels, int64_t panel_stride,
               int64_t pitch) {
  for (int64_t p = 0; p < count; ++p, rows += stride, panels += pitch) {
    char* panel = panels;
    int64_t j = 0;
    for (; j + kTileBytes <= row_bytes; j += kTileBytes, panel += panel_stride) {
      for (int64_t k = 0; k < kTileBytes; k += kVectorBytes) {
        simd::store(panel + k, simd::load(rows + j + k));
      }
    }
    if (j < row_bytes) {
      std::memcpy(panel, rows + j, row_bytes - j);
      std::memset(panel + (row_bytes - j), 0, kTileBytes - (row_bytes - j));
    }
  }
}

void transpose(const char* source, int64_t source_stride, int64_t rows, int64_t columns, int64_t size, char* target,
               int64_t target_stride) {
  if (size == sizeof(uint32_t)) {
    transpose<uint32_t>(source, source_stride, rows, columns, target, target_stride);
  } else if (size == sizeof(uint64_t)) {
    transpose<uint64_t>(source, source_stride, rows, columns, target, target_stride);
  } else {
    for (int64_t i = 0; i < rows; ++i) {
      copy_elements(source + i * source_stride, size, target + i * size, target_stride, size, columns);
    }
  }
}

void load_matrix(const ConstMatrices& matrices, int64_t batch, int64_t row, int64_t rows, int64_t column,
                 int64_t columns, ScalarType type, char* target, int64_t stride) {
  const int64_t size = static_cast<int64_t>(elementSize(type));
  if (matrices.dtype == type && matrices.has_contiguous_columns() && !matrices.has_contiguous_rows()) {
    transpose(matrices.at(batch, row, column), matrices.column_stride, columns, rows, size, target, stride);
    return;
  }
  for (int64_t i = 0; i < rows; ++i, target += stride) {
    for (int64_t j = 0; j < columns; j += kBlockSize) {
      load_block(matrices.dtype, matrices.at(batch, row + i, column + j), matrices.column_stride, type,
                 target + j * size, std::min(kBlockSize, columns - j));
    }
  }
}

void pack(const ConstStridedView& matrix, const Panels& panels) {
  const ConstMatrices source = matrices_of(matrix);
  const int64_t size = matrix.element_size();
  const int64_t columns = matrix.sizes[1];
  if (source.has_contiguous_rows()) {
    pack_rows(source.data, source.row_stride, panels.rows, columns * size, panels.data, panels.rows * kTileBytes,
              kTileBytes);
    return;
  }
  for (int64_t j = 0; j < columns; j += Panels::columns(size)) {
    char* const panel = panels.at(j / Panels::columns(size), 0);
    const int64_t count = std::min(Panels::columns(size), columns - j);
    if (count < Panels::columns(size)) {
      std::memset(panel, 0, panels.rows * kTileBytes);
    }
    load_matrix(source, /*batch=*/0, /*row=*/0, panels.rows, j, count, matrix.dtype, panel, kTileBytes);
  }
}

}  // namespace rules_executorch::kernels
