#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/linalg/matrix.h"

namespace rules_executorch::kernels {

/// The norm of the elements of column `j` from row `begin` on, without overflow.
template <typename T>
T norm_of_column(const Matrix<T>& matrix, int64_t j, int64_t begin) {
  T largest = 0;
  for (int64_t i = begin; i < matrix.rows; ++i) {
    const T size = std::abs(matrix(i, j));
    largest = size > largest || size != size ? size : largest;
  }
  if (!(largest > 0) || std::isinf(largest)) {
    return largest;
  }
  T sum = 0;
  for (int64_t i = begin; i < matrix.rows; ++i) {
    const T part = matrix(i, j) / largest;
    sum += part * part;
  }
  return largest * std::sqrt(sum);
}

/// Applies reflection `k` of `factor_qr` to the columns of `b` from `begin` on.
template <typename T>
void reflect(const Matrix<T>& vectors, const T* factors, int64_t k, const Matrix<T>& b, int64_t begin) {
  for (int64_t j = begin; j < b.columns && factors[k] != 0; ++j) {
    T sum = b(k, j);
    for (int64_t i = k + 1; i < b.rows; ++i) {
      sum += vectors(i, k) * b(i, j);
    }
    sum *= factors[k];
    b(k, j) -= sum;
    for (int64_t i = k + 1; i < b.rows; ++i) {
      b(i, j) -= vectors(i, k) * sum;
    }
  }
}

/// Factors `a = q r` in place by Householder's reflections. The upper triangle becomes `r`, the columns below the
/// diagonal are the vectors of the reflections, whose first element is 1. The signs are those of LAPACK: a diagonal
/// element of `r` has the sign opposite to the column's first element, or is that element if the others are 0.
/// `factors` has an element for each column or row, whichever are fewer.
template <typename T>
void factor_qr(const Matrix<T>& a, T* factors) {
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    const T first = a(k, k);
    const T rest = norm_of_column(a, k, k + 1);
    if (rest == 0) {
      factors[k] = 0;
      continue;
    }
    const T diagonal = -std::copysign(std::hypot(first, rest), first);
    factors[k] = (diagonal - first) / diagonal;
    for (int64_t i = k + 1; i < a.rows; ++i) {
      a(i, k) /= first - diagonal;
    }
    reflect(a, factors, k, a, k + 1);
    a(k, k) = diagonal;
  }
}

/// Computes the first columns of `q` from the result of `factor_qr`.
template <typename T>
void form_q(const Matrix<T>& vectors, const T* factors, const Matrix<T>& q) {
  set_identity(q);
  for (int64_t k = std::min(vectors.rows, vectors.columns) - 1; k >= 0; --k) {
    reflect(vectors, factors, k, q, k);
  }
}

}  // namespace rules_executorch::kernels
