#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

#include "kernels/linalg/jacobi.h"
#include "kernels/linalg/matrix.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// Copies the columns of `from`, and completes them to an orthonormal basis if `to` has more.
template <typename T>
void copy_completed(const Matrix<T>& from, const Matrix<T>& to) {
  copy_matrix(from, Matrix<T>{to.data, to.rows, from.columns, to.row_stride, to.column_stride});
  for (int64_t j = from.columns; j < to.columns; ++j) {
    complete_column(to, j);
  }
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> linalg_svd_out(KernelRuntimeContext& ctx, const Tensor& in, bool full_matrices,
                                                     bool compute_uv, std::optional<std::string_view> driver,
                                                     Tensor& left, Tensor& values, Tensor& right) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_linalg_svd.U");
  std::tuple<Tensor&, Tensor&, Tensor&> results(left, values, right);

  // Check: as in PyTorch, a driver is for other devices only.
  ET_KERNEL_CHECK(ctx, !driver.has_value(), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, has_matrices(in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, left, right), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, values), InvalidArgument, results);

  // Resize
  const ConstStridedView source(in);
  const int64_t rows = in.size(in.dim() - 2);
  const int64_t columns = in.size(in.dim() - 1);
  const int64_t least = std::min(rows, columns);
  ET_KERNEL_CHECK(ctx, resize_to_batch(values, source, {least}), InvalidArgument, results);
  if (compute_uv) {
    ET_KERNEL_CHECK(ctx, resize_to_batch(left, source, {rows, full_matrices ? rows : least}), InvalidArgument, results);
    ET_KERNEL_CHECK(ctx, resize_to_batch(right, source, {full_matrices ? columns : least, columns}), InvalidArgument,
                    results);
  } else {
    ET_KERNEL_CHECK(ctx, resize_to_size(left, int64_t{0}) && resize_to_size(right, int64_t{0}), InvalidArgument,
                    results);
  }

  // Compute: of a wide matrix, the transposed one, which exchanges the vectors.
  bool is_finite = true;
  ET_SWITCH_FLOAT_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    CTYPE* const memory = allocate_elements<CTYPE>(ctx, rows * columns);
    CTYPE* const of_right = allocate_elements<CTYPE>(ctx, least * least);
    CTYPE* const sizes = allocate_elements<CTYPE>(ctx, least);
    if (memory == nullptr || of_right == nullptr || sizes == nullptr) {
      return;
    }
    const Matrix<CTYPE> vectors = column_matrix(memory, std::max(rows, columns), least);
    const Matrix<CTYPE> others = column_matrix(of_right, least, least);
    for (int64_t batch = 0; batch < matrix_count(source); ++batch) {
      const Matrix<const CTYPE> from = matrix_of<CTYPE>(source, batch);
      copy_matrix(rows < columns ? from.transposed() : from, vectors);
      if (!std::isfinite(largest_size(vectors))) {
        is_finite = false;
        return;
      }
      singular_values(vectors, sizes, compute_uv ? &others : nullptr);
      const StridedView target(values);
      CTYPE* const to = batch_element<CTYPE>(target, batch, 1);
      for (int64_t k = 0; k < least; ++k) {
        to[k * target.strides[target.rank - 1]] = sizes[k];
      }
      if (compute_uv) {
        copy_completed(rows < columns ? others : vectors, matrix_of<CTYPE>(StridedView(left), batch));
        copy_completed(rows < columns ? vectors : others, matrix_of<CTYPE>(StridedView(right), batch).transposed());
      }
    }
  });
  ET_KERNEL_CHECK_MSG(ctx, is_finite, InvalidArgument, results, "a matrix has an infinity or a NaN");
  return results;
}

}  // namespace torch::executor::native
