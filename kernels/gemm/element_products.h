#pragma once

#include <cstdint>

#include "kernels/simd/simd.h"

namespace rules_executorch::kernels {

#if defined(KERNELS_MULTIPLIES_BY_ELEMENT)

/// Adds the products of element kLane of `rows` and a row of `b` to the sums of a tile. The sums are in row-major
/// order, kVectors vectors for each of the kRows rows.
template <int kLane, int kVectors, typename T, typename V, int kSums, int kRows>
KERNELS_ALWAYS_INLINE inline void add_element_products(V (&sums)[kSums], const V (&rows)[kRows], const T* b) {
  static_assert(kSums == kRows * kVectors);
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    const V vector_of_b = simd::load_as<V>(b + j * (sizeof(V) / sizeof(T)));
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      sums[i * kVectors + j] = simd::add_element_product<kLane>(sums[i * kVectors + j], rows[i], vector_of_b);
    }
    // The compiler would load the next vectors early, and keep sums in memory instead of registers.
    simd::compiler_barrier();
  }
}

#endif

}  // namespace rules_executorch::kernels
