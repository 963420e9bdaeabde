#pragma once

#include <cstdint>

#include "kernels/fourier/signal.h"

namespace rules_executorch::kernels {

struct Root {
  double re;
  double im;
};

/// The k-th power of the n-th root of unity: exp(-2 pi i k / n), with the error of one sine of at most 45 degrees.
/// 0 <= k < n.
Root root_of_unity(int64_t k, int64_t n);

/// Writes the n powers of the n-th root of unity, rounded to T.
template <typename T>
void write_roots(int64_t n, Signal<T> roots);

}  // namespace rules_executorch::kernels
