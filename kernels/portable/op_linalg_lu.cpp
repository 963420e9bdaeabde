#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>

#include "kernels/linalg/matrix.h"
#include "kernels/linalg/triangular.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The results of the factorizations of several matrices.
struct LuFactors {
  const Tensor& in;
  Tensor& factors;
  Tensor& pivots;

  /// Checks the dtypes, and resizes the results.
  bool init() {
    ET_LOG_AND_RETURN_IF_FALSE(has_matrices(in));
    ET_LOG_AND_RETURN_IF_FALSE(tensors_have_same_dtype(in, factors));
    ET_LOG_AND_RETURN_IF_FALSE(pivots.scalar_type() == ScalarType::Int);
    const int64_t rows = in.size(in.dim() - 2);
    const int64_t columns = in.size(in.dim() - 1);
    const ConstStridedView source(in);
    return resize_to_batch(factors, source, {rows, columns}) &&
           resize_to_batch(pivots, source, {std::min(rows, columns)});
  }

  int32_t* pivots_of(int64_t batch) const { return batch_element<int32_t>(StridedView(pivots), batch, 1); }
  int64_t pivot_stride() const { return StridedView(pivots).strides[pivots.dim() - 1]; }

  /// Factors a matrix, or the transposed one. Returns the number of the first zero of the diagonal, or 0.
  template <typename T>
  int32_t factor(int64_t batch, bool transposed) const {
    const Matrix<const T> from = matrix_of<T>(ConstStridedView(in), batch);
    const Matrix<T> to = matrix_of<T>(StridedView(factors), batch);
    copy_matrix(transposed ? from.transposed() : from, to);
    return factor_lu(to, pivots_of(batch), pivot_stride());
  }
};

/// Whether right sides are vectors: one vector, or a batch of the shape of the matrices without their last dimension.
bool are_vectors(const Tensor& right_side, const Tensor& matrices) {
  const auto sizes = right_side.sizes();
  return right_side.dim() == 1 ||
         (right_side.dim() + 1 == matrices.dim() && std::equal(sizes.begin(), sizes.end(), matrices.sizes().begin()));
}

/// Whether a tensor has, for each of the square matrices `factors`, row numbers from 1 on, as `factor_lu` writes them.
bool are_pivots(const Tensor& pivots, const Tensor& factors) {
  ET_LOG_AND_RETURN_IF_FALSE(pivots.scalar_type() == ScalarType::Int && pivots.dim() == factors.dim() - 1);
  for (ssize_t d = 0; d < pivots.dim(); ++d) {
    ET_LOG_AND_RETURN_IF_FALSE(pivots.size(d) == factors.size(d));
  }
  const int32_t* const rows = pivots.const_data_ptr<int32_t>();
  const int64_t n = factors.size(factors.dim() - 1);
  ET_CHECK_OR_RETURN_FALSE(std::all_of(rows, rows + pivots.numel(), [n](int32_t row) { return row >= 1 && row <= n; }),
                           "a pivot is not the number of a row");
  return true;
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> linalg_lu_factor_ex_out(KernelRuntimeContext& ctx, const Tensor& in, bool pivot,
                                                              bool check_errors, Tensor& factors, Tensor& pivots,
                                                              Tensor& info) {
  ET_DEFINE_OPERATOR_NAME(op_name, "linalg_lu_factor_ex.out");
  std::tuple<Tensor&, Tensor&, Tensor&> results(factors, pivots, info);

  // Check and resize: PyTorch factors without pivots on GPUs only.
  LuFactors lu{in, factors, pivots};
  ET_KERNEL_CHECK(ctx, pivot, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, info.scalar_type() == ScalarType::Int, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, lu.init(), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_to_batch(info, ConstStridedView(in), {}), InvalidArgument, results);

  // Compute
  bool is_singular = false;
  ET_SWITCH_FLOAT_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    for (int64_t batch = 0; batch < matrix_count(ConstStridedView(in)); ++batch) {
      const int32_t zero = lu.factor<CTYPE>(batch, /*transposed=*/false);
      *batch_element<int32_t>(StridedView(info), batch, 0) = zero;
      is_singular |= zero != 0;
    }
  });
  ET_KERNEL_CHECK_MSG(ctx, !check_errors || !is_singular, InvalidArgument, results, "a matrix is singular");
  return results;
}

std::tuple<Tensor&, Tensor&, Tensor&> linalg_lu_out(KernelRuntimeContext& ctx, const Tensor& in, bool pivot,
                                                    Tensor& permutation, Tensor& lower, Tensor& upper) {
  ET_DEFINE_OPERATOR_NAME(op_name, "linalg_lu.out");
  std::tuple<Tensor&, Tensor&, Tensor&> results(permutation, lower, upper);

  // Check: PyTorch factors without pivots on GPUs only.
  ET_KERNEL_CHECK(ctx, pivot, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, has_matrices(in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, lower, upper), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, permutation), InvalidArgument, results);

  // Resize
  const ConstStridedView source(in);
  const int64_t rows = in.size(in.dim() - 2);
  const int64_t columns = in.size(in.dim() - 1);
  const int64_t least = std::min(rows, columns);
  ET_KERNEL_CHECK(ctx,
                  resize_to_batch(lower, source, {rows, least}) && resize_to_batch(upper, source, {least, columns}),
                  InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_to_batch(permutation, source, {rows, rows}), InvalidArgument, results);

  // Compute
  ET_SWITCH_FLOAT_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    CTYPE* const memory = allocate_elements<CTYPE>(ctx, rows * columns);
    int32_t* const pivots = allocate_elements<int32_t>(ctx, least);
    if (memory == nullptr || pivots == nullptr) {
      return;
    }
    const Matrix<CTYPE> factors = column_matrix(memory, rows, columns);
    for (int64_t batch = 0; batch < matrix_count(source); ++batch) {
      copy_matrix(matrix_of<CTYPE>(source, batch), factors);
      factor_lu(factors, pivots, 1);
      const Matrix<CTYPE> to_lower = matrix_of<CTYPE>(StridedView(lower), batch);
      const Matrix<CTYPE> to_upper = matrix_of<CTYPE>(StridedView(upper), batch);
      copy_matrix(factors, to_lower);
      copy_matrix(factors, to_upper);
      clear_below(to_upper);
      clear_below(to_lower.transposed());
      for (int64_t k = 0; k < least; ++k) {
        to_lower(k, k) = 1;
      }
      const Matrix<CTYPE> rows_of_in = matrix_of<CTYPE>(StridedView(permutation), batch);
      set_identity(rows_of_in);
      exchange_rows(rows_of_in, pivots, 1, least, /*back=*/true);
    }
  });
  return results;
}

std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> linalg_solve_ex_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                                   const Tensor& right_side, bool left,
                                                                   bool check_errors, Tensor& result, Tensor& factors,
                                                                   Tensor& pivots, Tensor& info) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_linalg_solve_ex.result");
  std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> results(result, factors, pivots, info);

  // Check
  LuFactors lu{in, factors, pivots};
  ET_KERNEL_CHECK(ctx, has_square_matrices(in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, right_side, result), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, info.scalar_type() == ScalarType::Int, InvalidArgument, results);
  const ConstStridedView source(in);
  const int64_t n = in.size(in.dim() - 1);
  const bool has_vectors = are_vectors(right_side, in);
  ET_KERNEL_CHECK(ctx, left || !has_vectors, InvalidArgument, results);
  ConstStridedView given(right_side);
  if (has_vectors) {
    ET_KERNEL_CHECK(ctx, right_side.dim() < static_cast<ssize_t>(kTensorDimensionLimit), InvalidArgument, results);
    given = given.unsqueeze(given.rank);
  }
  ET_KERNEL_CHECK(ctx, given.rank >= 2 && given.sizes[given.rank - (left ? 2 : 1)] == n, InvalidArgument, results);
  StridedShape shape;
  ET_KERNEL_CHECK(ctx, broadcast_batches(source, given, shape), InvalidArgument, results);

  // Resize
  ET_KERNEL_CHECK(ctx, lu.init(), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_to_batch(info, source, {}), InvalidArgument, results);
  const int64_t last = shape.sizes[shape.rank - 1];
  ET_KERNEL_CHECK(ctx,
                  has_vectors ? resize_to_batch(result, shape, {n})
                              : resize_to_batch(result, shape, {shape.sizes[shape.rank - 2], last}),
                  InvalidArgument, results);

  // Compute
  bool is_singular = false;
  ET_SWITCH_FLOAT_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    for (int64_t batch = 0; batch < matrix_count(source); ++batch) {
      const int32_t zero = lu.factor<CTYPE>(batch, /*transposed=*/false);
      *batch_element<int32_t>(StridedView(info), batch, 0) = zero;
      is_singular |= zero != 0;
    }
    StridedView target(result);
    target = has_vectors ? target.unsqueeze(target.rank) : target;
    const ConstStridedView sides = with_batch_of(given, shape);
    const ConstStridedView all_factors = with_batch_of(ConstStridedView(factors), shape);
    const ConstStridedView all_pivots = with_batch_of(ConstStridedView(pivots).unsqueeze(pivots.dim()), shape);
    for (int64_t batch = 0; batch < matrix_count(shape); ++batch) {
      const Matrix<CTYPE> x = matrix_of<CTYPE>(target, batch);
      copy_matrix(matrix_of<CTYPE>(sides, batch), x);
      solve_factored(matrix_of<CTYPE>(all_factors, batch), batch_element<const int32_t>(all_pivots, batch, 2),
                     lu.pivot_stride(), !left, left ? x : x.transposed());
    }
  });
  ET_KERNEL_CHECK_MSG(ctx, !check_errors || !is_singular, InvalidArgument, results, "a matrix is singular");
  return results;
}

Tensor& linalg_lu_solve_out(KernelRuntimeContext& ctx, const Tensor& factors, const Tensor& pivots,
                            const Tensor& right_side, bool left, bool adjoint, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "linalg_lu_solve.out");

  // Check
  ET_KERNEL_CHECK(ctx, has_square_matrices(factors) && has_matrices(right_side), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(factors, right_side, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, are_pivots(pivots, factors), InvalidArgument, out);
  const int64_t n = factors.size(factors.dim() - 1);
  ET_KERNEL_CHECK(ctx, right_side.size(right_side.dim() - (left ? 2 : 1)) == n, InvalidArgument, out);
  StridedShape shape;
  ET_KERNEL_CHECK(ctx, broadcast_batches(ConstStridedView(factors), ConstStridedView(right_side), shape),
                  InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_to_batch(out, shape, {shape.sizes[shape.rank - 2], shape.sizes[shape.rank - 1]}),
                  InvalidArgument, out);

  // Compute
  ET_SWITCH_FLOAT_TYPES(factors.scalar_type(), ctx, op_name, CTYPE, [&] {
    const ConstStridedView sides = with_batch_of(ConstStridedView(right_side), shape);
    const ConstStridedView all_factors = with_batch_of(ConstStridedView(factors), shape);
    const ConstStridedView all_pivots = with_batch_of(ConstStridedView(pivots).unsqueeze(pivots.dim()), shape);
    for (int64_t batch = 0; batch < matrix_count(shape); ++batch) {
      const Matrix<CTYPE> x = matrix_of<CTYPE>(StridedView(out), batch);
      copy_matrix(matrix_of<CTYPE>(sides, batch), x);
      // x a = b is a^T x^T = b^T.
      solve_factored(matrix_of<CTYPE>(all_factors, batch), batch_element<const int32_t>(all_pivots, batch, 2),
                     all_pivots.strides[all_pivots.rank - 2], adjoint == left, left ? x : x.transposed());
    }
  });
  return out;
}

std::tuple<Tensor&, Tensor&, Tensor&> linalg_det_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& result,
                                                     Tensor& factors, Tensor& pivots) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_linalg_det.result");
  std::tuple<Tensor&, Tensor&, Tensor&> results(result, factors, pivots);

  // Check and resize
  LuFactors lu{in, factors, pivots};
  ET_KERNEL_CHECK(ctx, has_square_matrices(in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, result), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, lu.init(), InvalidArgument, results);
  const ConstStridedView source(in);
  ET_KERNEL_CHECK(ctx, resize_to_batch(result, source, {}), InvalidArgument, results);

  // Compute
  const int64_t n = in.size(in.dim() - 1);
  ET_SWITCH_FLOAT_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    for (int64_t batch = 0; batch < matrix_count(source); ++batch) {
      // PyTorch returns the factors of the transposed matrix, too.
      lu.factor<CTYPE>(batch, is_row_major(source));
      const Matrix<CTYPE> matrix = matrix_of<CTYPE>(StridedView(factors), batch);
      CTYPE product = is_odd_exchange(lu.pivots_of(batch), lu.pivot_stride(), n) ? -1 : 1;
      for (int64_t k = 0; k < n; ++k) {
        product *= matrix(k, k);
      }
      *batch_element<CTYPE>(StridedView(result), batch, 0) = product;
    }
  });
  return results;
}

std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> linalg_slogdet_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                                  Tensor& sign, Tensor& logarithm, Tensor& factors,
                                                                  Tensor& pivots) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_linalg_slogdet.sign");
  std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> results(sign, logarithm, factors, pivots);

  // Check and resize
  LuFactors lu{in, factors, pivots};
  ET_KERNEL_CHECK(ctx, has_square_matrices(in), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, sign, logarithm), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, lu.init(), InvalidArgument, results);
  const ConstStridedView source(in);
  ET_KERNEL_CHECK(ctx, resize_to_batch(sign, source, {}) && resize_to_batch(logarithm, source, {}), InvalidArgument,
                  results);

  // Compute
  const int64_t n = in.size(in.dim() - 1);
  ET_SWITCH_FLOAT_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    for (int64_t batch = 0; batch < matrix_count(source); ++batch) {
      // PyTorch returns the factors of the transposed matrix, too.
      lu.factor<CTYPE>(batch, is_row_major(source));
      const Matrix<CTYPE> matrix = matrix_of<CTYPE>(StridedView(factors), batch);
      CTYPE signs = is_odd_exchange(lu.pivots_of(batch), lu.pivot_stride(), n) ? -1 : 1;
      CTYPE sum = 0;
      for (int64_t k = 0; k < n; ++k) {
        const CTYPE element = matrix(k, k);
        signs *= static_cast<CTYPE>((element > 0) - (element < 0));
        sum += std::log(std::abs(element));
      }
      *batch_element<CTYPE>(StridedView(sign), batch, 0) = signs;
      *batch_element<CTYPE>(StridedView(logarithm), batch, 0) = sum;
    }
  });
  return results;
}

}  // namespace torch::executor::native
