#include "kernels/gemm/matmul_plan.h"

#include <algorithm>

#include "kernels/parallel/block.h"
#include "kernels/simd/width.h"

namespace rules_executorch::kernels {
namespace {

/// The number of products that are added before their sum is added to a total.
constexpr int64_t kDepth = 256;
/// The same for few rows that are loaded, if the second operand is read in place.
constexpr int64_t kLoadedDepth = 512;
/// The number of rows of a block that is read in place, of a block that needs memory, and of the smallest block.
constexpr int64_t kRowsInPlace = 512;
constexpr int64_t kRowsPacked = 256;
constexpr int64_t kLeastRows = 8;
/// The number of bytes of a row of a block of sums in tiles, and in sums of rows; the number of bytes of all rows of
/// the second operand that are loaded at a time.
constexpr int64_t kTilesBytes = 4 * kTileBytes;
constexpr int64_t kRowsBytes = kVectorBytes == 16 ? 2048 : 8192;
constexpr int64_t kStagedBytes = 8192;

}  // namespace

MatrixProduct::Plan::Plan(const MatrixProduct& product, int64_t memory) {
  const ProductShape& shape = product.shape_;
  const ConstMatrices& b = product.b_;
  const bool has_b = b.data != nullptr;
  way = shape.m > kFewRows ? kTiles : has_b && b.has_contiguous_columns() && !b.has_contiguous_rows() ? kDots : kRows;
  is_complex = ::executorch::runtime::isComplexType(product.type());
  element_size = product.element_size();
  loads_a = !product.is_in_place(product.a_);
  transposes_b = way == kTiles && has_b && b.has_contiguous_columns() && !b.has_contiguous_rows();
  const bool has_type = has_b && b.dtype == product.type();
  const bool has_layout = has_b && (way == kDots || transposes_b || b.has_contiguous_rows());
  loads_b = !(has_layout && (has_type || (way != kTiles && product.loops_.rows_of(b.dtype) != nullptr)));
  has_totals = product.sums_.data == nullptr;
  const bool loads_few = loads_a && !loads_b;
  depth = std::min(shape.k, way == kTiles ? kDepth : loads_b ? kBlockSize : loads_few ? kLoadedDepth : shape.k);
  rows = std::min(shape.m, loads_a || has_totals ? kRowsPacked : kRowsInPlace);
  const int64_t most_bytes = way == kTiles ? kTilesBytes : loads_b ? kStagedBytes / 4 : kRowsBytes;
  row_bytes = divide_up(std::min(shape.n * element_size, most_bytes), kTileBytes) * kTileBytes;
  staged_rows = way == kDots   ? 1
                : transposes_b ? kVectorBytes / element_size
                               : std::min(depth, std::max<int64_t>(kStagedBytes / row_bytes, 1));
  while (size() > memory) {
    shrink();
  }
}

void MatrixProduct::Plan::shrink() {
  if (staged_rows > 4) {
    staged_rows = 4;
  } else if (row_bytes > kTileBytes) {
    row_bytes = divide_up(row_bytes / kTileBytes, 2) * kTileBytes;
  } else if (rows > kLeastRows) {
    rows = divide_up(rows / 2, kLeastRows) * kLeastRows;
  } else {
    depth /= 2;
  }
}

void MatrixProduct::Plan::divide(const ProductShape& shape, int64_t count) {
  // Adjacent blocks load the same elements again: with fewer columns, those of the first operand.
  while (row_bytes > (loads_a ? kTilesBytes : kTileBytes) && count_blocks(shape) < count) {
    row_bytes = divide_up(row_bytes / kTileBytes, 2) * kTileBytes;
  }
  while (rows > 8 * kLeastRows && count_blocks(shape) < count) {
    rows = divide_up(rows / 2, kLeastRows) * kLeastRows;
  }
}

}  // namespace rules_executorch::kernels
