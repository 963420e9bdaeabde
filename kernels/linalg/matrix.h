#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// A matrix in memory. Strides are in elements.
template <typename T>
struct Matrix {
  T* data;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;

  T& operator()(int64_t i, int64_t j) const { return data[i * row_stride + j * column_stride]; }
  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

/// A matrix whose columns are contiguous.
template <typename T>
Matrix<T> column_matrix(T* data, int64_t rows, int64_t columns) {
  return {data, rows, columns, 1, rows};
}

/// The number of matrices in a view: the last two dimensions are those of a matrix.
inline int64_t matrix_count(const StridedShape& view) {
  int64_t count = 1;
  for (int64_t d = 0; d + 2 < view.rank; ++d) {
    count *= view.sizes[d];
  }
  return count;
}

/// The place of batch element `batch` in a view whose last `inner` dimensions are no batch.
template <typename T, typename View>
T* batch_element(const View& view, int64_t batch, int64_t inner) {
  int64_t offset = 0;
  for (int64_t d = view.rank - inner - 1; d >= 0; --d) {
    offset += batch % view.sizes[d] * view.strides[d];
    batch /= view.sizes[d];
  }
  return reinterpret_cast<T*>(view.data) + offset;
}

template <typename T>
Matrix<const T> matrix_of(const ConstStridedView& view, int64_t batch) {
  const int64_t last = view.rank - 1;
  return {batch_element<const T>(view, batch, 2), view.sizes[last - 1], view.sizes[last], view.strides[last - 1],
          view.strides[last]};
}
template <typename T>
Matrix<T> matrix_of(const StridedView& view, int64_t batch) {
  const int64_t last = view.rank - 1;
  return {batch_element<T>(view, batch, 2), view.sizes[last - 1], view.sizes[last], view.strides[last - 1],
          view.strides[last]};
}

template <typename From, typename T>
void copy_matrix(const Matrix<From>& from, const Matrix<T>& to) {
  for (int64_t i = 0; i < to.rows; ++i) {
    for (int64_t j = 0; j < to.columns; ++j) {
      to(i, j) = from(i, j);
    }
  }
}

template <typename T>
void set_identity(const Matrix<T>& matrix) {
  for (int64_t i = 0; i < matrix.rows; ++i) {
    for (int64_t j = 0; j < matrix.columns; ++j) {
      matrix(i, j) = i == j ? T(1) : T(0);
    }
  }
}

/// Sets the elements below the diagonal to 0.
template <typename T>
void clear_below(const Matrix<T>& matrix) {
  for (int64_t i = 1; i < matrix.rows; ++i) {
    for (int64_t j = 0; j < std::min(i, matrix.columns); ++j) {
      matrix(i, j) = 0;
    }
  }
}

/// Scratch memory for `count` elements. Null, with a failure of the context, if there is none.
template <typename T>
T* allocate_elements(KernelRuntimeContext& ctx, int64_t count) {
  const auto memory = ctx.allocate_temp(static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(T));
  ET_KERNEL_CHECK(ctx, memory.ok(), MemoryAllocationFailed, nullptr);
  return static_cast<T*>(memory.get());
}

/// Whether `tensor` has matrices of floats or doubles.
bool has_matrices(const Tensor& tensor);

/// Whether `tensor` has square matrices of floats or doubles.
bool has_square_matrices(const Tensor& tensor);

/// Resizes `out` to the batch of `matrices` and `sizes` as its last dimensions.
bool resize_to_batch(Tensor& out, const StridedShape& matrices, std::initializer_list<int64_t> sizes);

/// The shape that the batches of two tensors of matrices broadcast to, with the last two dimensions of `b`. Returns
/// false if they do not broadcast.
bool broadcast_batches(const StridedShape& a, const StridedShape& b, StridedShape& shape);

/// A view of matrices with the batch of `shape`.
ConstStridedView with_batch_of(const ConstStridedView& matrices, const StridedShape& shape);

/// Whether elements follow each other in row-major order.
bool is_row_major(const StridedShape& view);

}  // namespace rules_executorch::kernels
