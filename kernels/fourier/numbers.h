#pragma once

#include <cstdint>

#include "kernels/fourier/signal.h"
#include "kernels/simd/inline.h"
#include "kernels/simd/vector.h"

namespace rules_executorch::kernels {

/// A complex number, or a vector of complex numbers. V is a floating-point type or a vector of them.
template <typename V>
struct Number {
  V re;
  V im;

  /// Multiplied by -i.
  KERNELS_ALWAYS_INLINE Number turned() const { return {im, -re}; }
};

template <typename V>
KERNELS_ALWAYS_INLINE inline Number<V> operator+(const Number<V>& a, const Number<V>& b) {
  return {a.re + b.re, a.im + b.im};
}

template <typename V>
KERNELS_ALWAYS_INLINE inline Number<V> operator-(const Number<V>& a, const Number<V>& b) {
  return {a.re - b.re, a.im - b.im};
}

/// The product with one complex number.
template <typename T, typename V>
KERNELS_ALWAYS_INLINE inline Number<V> product(T re, T im, const Number<V>& x) {
  return {re * x.re - im * x.im, re * x.im + im * x.re};
}

template <typename V, typename T>
KERNELS_ALWAYS_INLINE inline Number<V> load_number(Signal<T> from, int64_t i) {
  return {simd::load_as<V>(from.re + i), simd::load_as<V>(from.im + i)};
}

template <typename V, typename T>
KERNELS_ALWAYS_INLINE inline void store_number(Signal<T> to, int64_t i, const Number<V>& x) {
  simd::store(to.re + i, x.re);
  simd::store(to.im + i, x.im);
}

/// Calls `function` with a value of the type for loops over `n` elements: vectors, if they divide `n`.
template <typename T, typename Function>
KERNELS_ALWAYS_INLINE inline void with_vectors_for(int64_t n, const Function& function) {
  if (n % simd::kLanes<T> == 0) {
    function(simd::Vector<T>{});
  } else {
    function(T{});
  }
}

}  // namespace rules_executorch::kernels
