#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "kernels/linalg/matrix.h"

namespace rules_executorch::kernels {

/// Solves `a x = b` with a triangular matrix. `b` becomes `x`. `unit`: the diagonal of `a` counts as ones.
template <typename A, typename T>
void solve_triangular(const Matrix<A>& a, const Matrix<T>& b, bool upper, bool unit) {
  const int64_t n = a.rows;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper ? n - 1 - step : step;
    for (int64_t k = upper ? i + 1 : 0; k < (upper ? n : i); ++k) {
      const T factor = a(i, k);
      for (int64_t j = 0; j < b.columns; ++j) {
        b(i, j) -= factor * b(k, j);
      }
    }
    for (int64_t j = 0; j < b.columns && !unit; ++j) {
      b(i, j) /= a(i, i);
    }
  }
}

/// Factors `a` in place: `a = p l u`, with ones on the diagonal of `l`. `pivots[k * stride]` is the row, counted from
/// 1, with which row `k` was exchanged: the row with the largest element. Returns the number, counted from 1, of the
/// first zero on the diagonal of `u`; 0 if there is none.
template <typename T>
int32_t factor_lu(const Matrix<T>& a, int32_t* pivots, int64_t stride) {
  int32_t info = 0;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    int64_t row = k;
    for (int64_t i = k + 1; i < a.rows; ++i) {
      row = std::abs(a(i, k)) > std::abs(a(row, k)) ? i : row;
    }
    pivots[k * stride] = static_cast<int32_t>(row + 1);
    if (a(row, k) == 0) {
      info = info == 0 ? static_cast<int32_t>(k + 1) : info;
      continue;
    }
    for (int64_t j = 0; j < a.columns && row != k; ++j) {
      std::swap(a(k, j), a(row, j));
    }
    for (int64_t i = k + 1; i < a.rows; ++i) {
      const T factor = a(i, k) / a(k, k);
      a(i, k) = factor;
      for (int64_t j = k + 1; j < a.columns; ++j) {
        a(i, j) -= factor * a(k, j);
      }
    }
  }
  return info;
}

/// Exchanges the rows of `b` as `factor_lu` exchanged those of its matrix, or back.
template <typename T>
void exchange_rows(const Matrix<T>& b, const int32_t* pivots, int64_t stride, int64_t count, bool back) {
  for (int64_t step = 0; step < count; ++step) {
    const int64_t k = back ? count - 1 - step : step;
    const int64_t row = pivots[k * stride] - 1;
    for (int64_t j = 0; j < b.columns && row != k; ++j) {
      std::swap(b(k, j), b(row, j));
    }
  }
}

/// Solves `a x = b` with the factors of `a`, or `a^T x = b` if `transposed`. `b` becomes `x`.
template <typename A, typename T>
void solve_factored(const Matrix<A>& lu, const int32_t* pivots, int64_t stride, bool transposed, const Matrix<T>& b) {
  if (transposed) {
    solve_triangular(lu.transposed(), b, /*upper=*/false, /*unit=*/false);
    solve_triangular(lu.transposed(), b, /*upper=*/true, /*unit=*/true);
    exchange_rows(b, pivots, stride, lu.rows, /*back=*/true);
  } else {
    exchange_rows(b, pivots, stride, lu.rows, /*back=*/false);
    solve_triangular(lu, b, /*upper=*/false, /*unit=*/true);
    solve_triangular(lu, b, /*upper=*/true, /*unit=*/false);
  }
}

/// Whether the exchanges of rows change the sign of the determinant.
inline bool is_odd_exchange(const int32_t* pivots, int64_t stride, int64_t count) {
  bool is_odd = false;
  for (int64_t k = 0; k < count; ++k) {
    is_odd ^= pivots[k * stride] != k + 1;
  }
  return is_odd;
}

/// Factors the lower triangle of a symmetric matrix in place: `a = l l^T`. Returns the order, counted from 1, of the
/// first leading minor that is not positive; 0 if there is none. The rest of the triangle then stays as it was.
template <typename T>
int32_t factor_cholesky(const Matrix<T>& a) {
  for (int64_t j = 0; j < a.columns; ++j) {
    T square = a(j, j);
    for (int64_t k = 0; k < j; ++k) {
      square -= a(j, k) * a(j, k);
    }
    if (!(square > 0)) {
      a(j, j) = square;
      return static_cast<int32_t>(j + 1);
    }
    a(j, j) = std::sqrt(square);
    for (int64_t i = j + 1; i < a.rows; ++i) {
      T sum = a(i, j);
      for (int64_t k = 0; k < j; ++k) {
        sum -= a(i, k) * a(j, k);
      }
      a(i, j) = sum / a(j, j);
    }
  }
  return 0;
}

}  // namespace rules_executorch::kernels
