#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/gemm/loaded_elements.h"
#include "kernels/gemm/panel_product.h"
#include "kernels/simd/simd.h"

namespace rules_executorch::kernels {

/// The innermost loops of products with few rows.
struct RowLoops {
  /// `totals[j] += sum over p < k of a[p] * b[p][j]` for j < n.
  void (*add_rows)(void* totals, const void* a, const void* b, int64_t b_stride, int64_t k, int64_t n);
  /// `totals[j] += sum over p < k of a[p] * b[j][p]` for j < n. The columns of `b` are `b_stride` apart.
  void (*add_dots)(void* totals, const void* a, const void* b, int64_t b_stride, int64_t k, int64_t n);
};

namespace internal {

template <typename T>
inline void add_vector(T* target, const Vector<T>& vector) {
  simd::store(target, simd::load(target) + vector);
}

/// Several products for each load and store of a total.
template <typename T, typename B, int... P>
void add_products(T* totals, const T* a, const B* b, int64_t b_stride, int64_t n, std::integer_sequence<int, P...>) {
  const T factors[] = {a[P]...};
  const B* const rows[] = {b + P * b_stride...};
  int64_t j = 0;
  for (; j + kLanes<T> <= n; j += kLanes<T>) {
    add_vector(totals + j, (... + (factors[P] * load_elements(rows[P] + j))));
  }
  for (; j < n; ++j) {
    totals[j] += (... + (factors[P] * load_element(rows[P] + j)));
  }
}

template <typename T, typename B>
void add_rows(void* totals, const void* a, const void* b, int64_t b_stride, int64_t k, int64_t n) {
  T* total = static_cast<T*>(totals);
  const T* x = static_cast<const T*>(a);
  const B* y = static_cast<const B*>(b);
  if constexpr (std::is_floating_point_v<T>) {
    int64_t count = 0;
    for (; k > 0; k -= count, x += count, y += count * b_stride) {
      count = k >= 4 ? 4 : k == 3 ? 3 : 1;
      if (count == 4) {
        add_products(total, x, y, b_stride, n, std::make_integer_sequence<int, 4>());
      } else if (count == 3) {
        add_products(total, x, y, b_stride, n, std::make_integer_sequence<int, 3>());
      } else {
        add_products(total, x, y, b_stride, n, std::make_integer_sequence<int, 1>());
      }
    }
  } else {
    add_products(total, x, y, b_stride, k, n);
  }
}

template <typename T, typename B>
T sum_of_products(const T* a, const B* b, int64_t k) {
  T sum = 0;
  for (int64_t p = 0; p < k; ++p) {
    sum += a[p] * load_element(b + p);
  }
  return sum;
}

/// Several dot products at a time. Each one has the same result as if it were computed alone.
template <typename T, typename B, int... J>
void add_dots(T* totals, const T* a, const B* b, int64_t b_stride, int64_t k, std::integer_sequence<int, J...>) {
  Vector<T> even[] = {((void)J, Vector<T>{})...};
  Vector<T> odd[] = {((void)J, Vector<T>{})...};
  int64_t p = 0;
  for (; p + 2 * kLanes<T> <= k; p += 2 * kLanes<T>) {
    const Vector<T> a_even = load_elements(a + p);
    const Vector<T> a_odd = load_elements(a + p + kLanes<T>);
    ((even[J] += a_even * load_elements(b + J * b_stride + p),
      odd[J] += a_odd * load_elements(b + J * b_stride + p + kLanes<T>)),
     ...);
  }
  ((totals[J] += simd::sum<T>(even[J] + odd[J]) + sum_of_products(a + p, b + J * b_stride + p, k - p)), ...);
}

template <typename T, typename B>
void add_dots(void* totals, const void* a, const void* b, int64_t b_stride, int64_t k, int64_t n) {
  T* total = static_cast<T*>(totals);
  const T* x = static_cast<const T*>(a);
  const B* y = static_cast<const B*>(b);
  int64_t j = 0;
  if constexpr (std::is_floating_point_v<T>) {
    constexpr int kColumns = 4;
    for (; j + kColumns <= n; j += kColumns) {
      add_dots(total + j, x, y + j * b_stride, b_stride, k, std::make_integer_sequence<int, kColumns>());
    }
    for (; j < n; ++j) {
      add_dots(total + j, x, y + j * b_stride, b_stride, k, std::make_integer_sequence<int, 1>());
    }
  }
  for (; j < n; ++j) {
    total[j] += sum_of_products(x, y + j * b_stride, k);
  }
}

template <typename T, typename B>
inline constexpr RowLoops kRowLoops = {&add_rows<T, B>, &add_dots<T, B>};

}  // namespace internal
}  // namespace rules_executorch::kernels
