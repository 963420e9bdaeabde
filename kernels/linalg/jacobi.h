#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "kernels/linalg/householder.h"
#include "kernels/linalg/matrix.h"

namespace rules_executorch::kernels {

/// More sweeps than any matrix needs.
constexpr int kJacobiSweeps = 60;

/// The rotation that makes the product of two columns, or an element next to the diagonal, zero.
template <typename T>
struct Rotation {
  T cosine;
  T sine;
  T tangent;

  /// `difference` is that of the second and the first diagonal element, `product` is the element to remove.
  Rotation(T difference, T product) {
    const T ratio = difference / (2 * product);
    tangent =
        std::isinf(ratio) ? 1 / (2 * ratio) : std::copysign(1 / (std::abs(ratio) + std::hypot(T(1), ratio)), ratio);
    cosine = 1 / std::hypot(T(1), tangent);
    sine = cosine * tangent;
  }

  /// Rotates two columns.
  void apply(const Matrix<T>& matrix, int64_t p, int64_t q) const {
    for (int64_t i = 0; i < matrix.rows; ++i) {
      const T x = matrix(i, p);
      const T y = matrix(i, q);
      matrix(i, p) = cosine * x - sine * y;
      matrix(i, q) = sine * x + cosine * y;
    }
  }
};

/// The largest absolute value of a matrix; NaN or infinity if there is one.
template <typename T>
T largest_size(const Matrix<T>& matrix) {
  T largest = 0;
  for (int64_t i = 0; i < matrix.rows; ++i) {
    for (int64_t j = 0; j < matrix.columns; ++j) {
      const T size = std::abs(matrix(i, j));
      largest = size > largest || size != size ? size : largest;
    }
  }
  return largest;
}

template <typename T>
void exchange_columns(const Matrix<T>& matrix, int64_t p, int64_t q) {
  for (int64_t i = 0; i < matrix.rows; ++i) {
    std::swap(matrix(i, p), matrix(i, q));
  }
}

/// Sorts values and, if `vectors` has any, the columns of `vectors` with them.
template <typename T>
void sort_with_columns(T* values, int64_t count, bool descending, const Matrix<T>* vectors, const Matrix<T>* others) {
  for (int64_t i = 0; i + 1 < count; ++i) {
    int64_t best = i;
    for (int64_t k = i + 1; k < count; ++k) {
      best = (descending ? values[k] > values[best] : values[k] < values[best]) ? k : best;
    }
    if (best != i) {
      std::swap(values[i], values[best]);
      for (const Matrix<T>* matrix : {vectors, others}) {
        if (matrix != nullptr) {
          exchange_columns(*matrix, i, best);
        }
      }
    }
  }
}

/// The eigenvalues of a symmetric matrix, ascending, and its eigenvectors as the columns of `vectors`, by Jacobi's
/// method. `a` is overwritten; both triangles must be given. `vectors` is null if only the values are wanted.
template <typename T>
void symmetric_eigen(const Matrix<T>& a, T* values, const Matrix<T>* vectors) {
  const int64_t n = a.rows;
  if (vectors != nullptr) {
    set_identity(*vectors);
  }
  const T threshold = largest_size(a) * std::numeric_limits<T>::epsilon() / 16;
  bool rotated = true;
  for (int sweep = 0; sweep < kJacobiSweeps && rotated; ++sweep) {
    rotated = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const T product = a(p, q);
        if (!(std::abs(product) > threshold)) {
          continue;
        }
        rotated = true;
        const Rotation<T> rotation(a(q, q) - a(p, p), product);
        rotation.apply(a, p, q);
        rotation.apply(a.transposed(), p, q);
        a(p, q) = a(q, p) = 0;
        if (vectors != nullptr) {
          rotation.apply(*vectors, p, q);
        }
      }
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    values[i] = a(i, i);
  }
  sort_with_columns<T>(values, n, /*descending=*/false, vectors, nullptr);
}

/// Makes column `j` of `q` a unit vector that is orthogonal to the columns before it.
template <typename T>
void complete_column(const Matrix<T>& q, int64_t j) {
  T best = -1;
  int64_t best_axis = 0;
  // The axis with the largest part outside of the space of the columns.
  for (int64_t axis = 0; axis < q.rows; ++axis) {
    T rest = 1;
    for (int64_t k = 0; k < j; ++k) {
      rest -= q(axis, k) * q(axis, k);
    }
    if (rest > best) {
      best = rest;
      best_axis = axis;
    }
  }
  for (int64_t i = 0; i < q.rows; ++i) {
    q(i, j) = i == best_axis ? T(1) : T(0);
  }
  // Twice, against rounding errors.
  for (int repetition = 0; repetition < 2; ++repetition) {
    for (int64_t k = 0; k < j; ++k) {
      T product = 0;
      for (int64_t i = 0; i < q.rows; ++i) {
        product += q(i, k) * q(i, j);
      }
      for (int64_t i = 0; i < q.rows; ++i) {
        q(i, j) -= product * q(i, k);
      }
    }
    const T norm = norm_of_column(q, j, 0);
    for (int64_t i = 0; i < q.rows; ++i) {
      q(i, j) /= norm;
    }
  }
}

/// The singular values of `a`, descending, by one-sided Jacobi. `a` has at least as many rows as columns, and becomes
/// the left vectors, its columns. The columns of `right` become the right vectors; null if only the values are wanted.
template <typename T>
void singular_values(const Matrix<T>& a, T* values, const Matrix<T>* right) {
  const int64_t n = a.columns;
  constexpr T kEpsilon = std::numeric_limits<T>::epsilon();
  if (right != nullptr) {
    set_identity(*right);
  }
  // Squares neither overflow nor vanish after a division by the largest element.
  const T scale = largest_size(a);
  for (int64_t j = 0; j < n && scale > 0; ++j) {
    for (int64_t i = 0; i < a.rows; ++i) {
      a(i, j) /= scale;
    }
  }
  bool rotated = true;
  for (int sweep = 0; sweep < kJacobiSweeps && rotated; ++sweep) {
    rotated = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        T first = 0, second = 0, product = 0;
        for (int64_t i = 0; i < a.rows; ++i) {
          first += a(i, p) * a(i, p);
          second += a(i, q) * a(i, q);
          product += a(i, p) * a(i, q);
        }
        // Columns of rounding errors only count as 0.
        if (!(std::abs(product) > kEpsilon * std::sqrt(first * second)) ||
            std::abs(product) <= std::numeric_limits<T>::min()) {
          continue;
        }
        rotated = true;
        const Rotation<T> rotation(second - first, product);
        rotation.apply(a, p, q);
        if (right != nullptr) {
          rotation.apply(*right, p, q);
        }
      }
    }
  }
  for (int64_t j = 0; j < n; ++j) {
    values[j] = norm_of_column(a, j, 0);
  }
  sort_with_columns(values, n, /*descending=*/true, &a, right);
  const T smallest = n > 0 ? values[0] * kEpsilon * kEpsilon : T(0);
  for (int64_t j = 0; j < n && right != nullptr; ++j) {
    if (values[j] > smallest) {
      for (int64_t i = 0; i < a.rows; ++i) {
        a(i, j) /= values[j];
      }
    } else {
      complete_column(a, j);
    }
  }
  for (int64_t j = 0; j < n; ++j) {
    values[j] *= scale;
  }
}

}  // namespace rules_executorch::kernels
