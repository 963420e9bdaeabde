#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/common/strided_view.h"
#include "kernels/common/vectorize.h"

namespace rules_executorch::kernels {

/// `totals[i][j] += sum over p of a[i][p] * b[p][j]` for blocks of `m` by `k` and `k` by `n` elements of one dtype.
/// Strides between rows are in elements, those within rows are 1.
using MultiplyAdd = void (*)(void* totals, int64_t totals_stride, const void* a, int64_t a_stride, const void* b,
                             int64_t b_stride, int64_t m, int64_t k, int64_t n);

/// The matrix product of an `m` by `k` and a `k` by `n` matrix. Its subclasses say where the operands' elements come
/// from and what becomes of the results, so that convolutions are matrix products as well. Rows are read and stored in
/// parts of up to kBlockSize elements.
class MatrixProduct {
 public:
  MatrixProduct(ScalarType type, int64_t m, int64_t k, int64_t n) : type_(type), m_(m), k_(k), n_(n) {}

  /// Computes the product with `multiply_add`, which is for elements of dtype `type`.
  void compute(MultiplyAdd multiply_add) const;

 protected:
  ~MatrixProduct() = default;

  /// The dtype to calculate in.
  ScalarType type() const { return type_; }

 private:
  /// Reads `n` elements of row `row` of the first operand, from `column` on.
  virtual void load_a(int64_t row, int64_t column, int64_t n, void* target) const = 0;
  /// Reads `n` elements of row `row` of the second operand, from `column` on.
  virtual void load_b(int64_t row, int64_t column, int64_t n, void* target) const = 0;
  /// Stores `n` elements of row `row` of the result, from `column` on. It may change them.
  virtual void store(int64_t row, int64_t column, int64_t n, void* totals) const = 0;

  ScalarType type_;
  int64_t m_;
  int64_t k_;
  int64_t n_;
};

/// The product of two 2-dimensional views, stored in a third one.
class ViewProduct : public MatrixProduct {
 public:
  ViewProduct(ScalarType type, const ConstStridedView& a, const ConstStridedView& b, const StridedView& out)
      : MatrixProduct(type, a.sizes[0], a.sizes[1], b.sizes[1]), a_(a), b_(b), out_(out) {}

 protected:
  void store(int64_t row, int64_t column, int64_t n, void* totals) const override;

 private:
  void load_a(int64_t row, int64_t column, int64_t n, void* target) const override;
  void load_b(int64_t row, int64_t column, int64_t n, void* target) const override;

  ConstStridedView a_;
  ConstStridedView b_;
  StridedView out_;
};

/// A MultiplyAdd for elements of type `T`. Integers take the short way: models seldom multiply matrices of them.
template <typename T>
void multiply_add(void* totals, int64_t totals_stride, const void* a, int64_t a_stride, const void* b, int64_t b_stride,
                  int64_t m, int64_t k, int64_t n) {
  for (int64_t i = 0; i < m; ++i) {
    T* total = static_cast<T*>(totals) + i * totals_stride;
    const T* x = static_cast<const T*>(a) + i * a_stride;
    const T* y = static_cast<const T*>(b);
    int64_t p = 0;
    if constexpr (std::is_floating_point_v<T>) {
      // Four products for each time that a total is read and written.
      for (; p + 4 <= k; p += 4, y += 4 * b_stride) {
        const T x0 = x[p], x1 = x[p + 1], x2 = x[p + 2], x3 = x[p + 3];
        const T *y1 = y + b_stride, *y2 = y + 2 * b_stride, *y3 = y + 3 * b_stride;
        vectorized_for(n, [=](int64_t j) { total[j] += x0 * y[j] + x1 * y1[j] + x2 * y2[j] + x3 * y3[j]; });
      }
    }
    for (; p < k; ++p, y += b_stride) {
      const T x0 = x[p];
      for (int64_t j = 0; j < n; ++j) {
        total[j] += x0 * y[j];
      }
    }
  }
}

}  // namespace rules_executorch::kernels
