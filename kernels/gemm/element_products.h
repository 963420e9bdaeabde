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
  constexpr int64_t kLanesOfVector = sizeof(V) / sizeof(T);
  // A pair of vectors is one load instruction. More vectors would not fit into the registers beside the sums.
  constexpr int kTogether = kVectors % 2 == 0 ? 2 : 1;
  simd::compiler_barrier();  // Nothing comes between the first two loads.
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; j += kTogether) {
    V vectors_of_b[kTogether];
#pragma GCC unroll 2
    for (int l = 0; l < kTogether; ++l) {
      vectors_of_b[l] = simd::load_as<V>(b + (j + l) * kLanesOfVector);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
      for (int l = 0; l < kTogether; ++l) {
        V& sum = sums[i * kVectors + j + l];
        sum = simd::add_element_product<kLane>(sum, rows[i], vectors_of_b[l]);
      }
    }
    // The compiler would load the next vectors early, and keep sums in memory instead of registers.
    simd::compiler_barrier();
  }
}

#endif

}  // namespace rules_executorch::kernels
