#include "kernels/common/matmul.h"

#include <algorithm>
#include <cstring>

#include "kernels/common/convert.h"

namespace rules_executorch::kernels {
namespace {

/// Bytes on the stack for a block of results, and for one of the second operand. The first operand's is smaller.
constexpr int64_t kBufferBytes = 8192;
constexpr int64_t kFewRows = 8;

/// Calls `visit(offset, n)` for the parts of `size` elements that are `step` long; the last one may be shorter.
template <typename Visit>
void for_each_part(int64_t size, int64_t step, const Visit& visit) {
  for (int64_t start = 0; start < size; start += step) {
    visit(start, std::min(step, size - start));
  }
}

}  // namespace

void MatrixProduct::compute(MultiplyAdd multiply_add) const {
  alignas(64) char totals[kBufferBytes];
  alignas(64) char a[kBufferBytes / 2];
  alignas(64) char b[kBufferBytes];
  const int64_t element_size = static_cast<int64_t>(elementSize(type_));
  const int64_t capacity = kBufferBytes / element_size;
  // Loading the second operand is paid by many rows, or, where there are few, made cheaper by long parts.
  const int64_t columns = m_ < kFewRows ? kBlockSize / 2 : kBlockSize / 4;
  const int64_t rows = capacity / columns;
  const int64_t depth = std::min(rows, kBufferBytes / 2 / element_size / rows);

  for_each_part(n_, columns, [&](int64_t column, int64_t n) {
    for_each_part(m_, rows, [&](int64_t row, int64_t m) {
      std::memset(totals, 0, m * columns * element_size);
      for_each_part(k_, depth, [&](int64_t start, int64_t k) {
        for (int64_t i = 0; i < m; ++i) {
          load_a(row + i, start, k, a + i * depth * element_size);
        }
        for (int64_t p = 0; p < k; ++p) {
          load_b(start + p, column, n, b + p * columns * element_size);
        }
        multiply_add(totals, columns, a, depth, b, columns, m, k, n);
      });
      for (int64_t i = 0; i < m; ++i) {
        store(row + i, column, n, totals + i * columns * element_size);
      }
    });
  });
}

void ViewProduct::load_a(int64_t row, int64_t column, int64_t n, void* target) const {
  const int64_t size = a_.element_size();
  load_block(a_.dtype, a_.data + (row * a_.strides[0] + column * a_.strides[1]) * size, a_.strides[1] * size, type(),
             target, n);
}

void ViewProduct::load_b(int64_t row, int64_t column, int64_t n, void* target) const {
  const int64_t size = b_.element_size();
  load_block(b_.dtype, b_.data + (row * b_.strides[0] + column * b_.strides[1]) * size, b_.strides[1] * size, type(),
             target, n);
}

void ViewProduct::store(int64_t row, int64_t column, int64_t n, void* totals) const {
  const int64_t size = out_.element_size();
  store_block(type(), totals, out_.dtype, out_.data + (row * out_.strides[0] + column * out_.strides[1]) * size,
              out_.strides[1] * size, n);
}

}  // namespace rules_executorch::kernels
