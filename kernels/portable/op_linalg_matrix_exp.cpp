#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/linalg/matrix.h"
#include "kernels/tensors/dtype.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// `out = a b`.
void multiply(const Matrix<double>& a, const Matrix<double>& b, const Matrix<double>& out) {
  for (int64_t j = 0; j < out.columns; ++j) {
    for (int64_t i = 0; i < out.rows; ++i) {
      out(i, j) = 0;
    }
    for (int64_t k = 0; k < a.columns; ++k) {
      const double factor = b(k, j);
      for (int64_t i = 0; i < out.rows; ++i) {
        out(i, j) += a(i, k) * factor;
      }
    }
  }
}

/// The largest sum of the absolute values of a column.
double norm_of(const Matrix<double>& a) {
  double norm = 0;
  for (int64_t j = 0; j < a.columns; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < a.rows; ++i) {
      sum += std::abs(a(i, j));
    }
    norm = sum > norm || sum != sum ? sum : norm;
  }
  return norm;
}

/// The exponential of a matrix: the Taylor series of the matrix divided by a power of 2, squared as often. The three
/// matrices are scratch memory; `a` has the matrix, and the result is `a`.
void exponentiate(Matrix<double>& a, Matrix<double>& b, Matrix<double>& c) {
  const double norm = norm_of(a);
  const int halvings = std::isfinite(norm) && norm > 0.5 ? std::ilogb(norm) + 2 : 0;
  for (int64_t j = 0; j < a.columns; ++j) {
    for (int64_t i = 0; i < a.rows; ++i) {
      a(i, j) = std::ldexp(a(i, j), -halvings);
    }
  }
  // Horner's rule: 1 + a (1 + a / 2 (1 + a / 3 (...))). The rest of the series is below the rounding error.
  constexpr int kTerms = 18;
  set_identity(b);
  for (int term = kTerms; term > 0; --term) {
    multiply(a, b, c);
    for (int64_t j = 0; j < a.columns; ++j) {
      for (int64_t i = 0; i < a.rows; ++i) {
        c(i, j) = c(i, j) / term + (i == j ? 1 : 0);
      }
    }
    std::swap(b, c);
  }
  std::swap(a, b);
  for (int step = 0; step < halvings; ++step) {
    multiply(a, a, b);
    std::swap(a, b);
  }
}

}  // namespace

Tensor& linalg_matrix_exp_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "linalg_matrix_exp.out");

  // Check
  ET_KERNEL_CHECK(ctx, has_square_matrices(in), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);

  // Resize
  ET_KERNEL_CHECK(ctx, resize_like(out, in), InvalidArgument, out);

  // Compute: in double, since each square doubles the error.
  const ConstStridedView source(in);
  const int64_t n = in.size(in.dim() - 1);
  ET_SWITCH_FLOAT_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    double* const memory = allocate_elements<double>(ctx, 3 * n * n);
    if (memory == nullptr) {
      return;
    }
    for (int64_t batch = 0; batch < matrix_count(source); ++batch) {
      Matrix<double> a = column_matrix(memory, n, n);
      Matrix<double> b = column_matrix(memory + n * n, n, n);
      Matrix<double> c = column_matrix(memory + 2 * n * n, n, n);
      copy_matrix(matrix_of<CTYPE>(source, batch), a);
      exponentiate(a, b, c);
      copy_matrix(a, matrix_of<CTYPE>(StridedView(out), batch));
    }
  });
  return out;
}

}  // namespace torch::executor::native
