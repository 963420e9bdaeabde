#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/gemm/layouts.h"
#include "kernels/gemm/loaded_elements.h"
#include "kernels/math/bits.h"
#include "kernels/math/reduced_float.h"
#include "kernels/math/vectorize.h"
#include "kernels/simd/simd.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Whether pairs of elements are multiplied without a conversion to float.
#if defined(KERNELS_MULTIPLIES_PAIRS)
template <typename E>
inline constexpr bool kMultipliesPairs = std::is_same_v<E, BFloat16>;
#else
template <typename E>
inline constexpr bool kMultipliesPairs = false;
#endif

/// Converts 16-bit elements to floats.
template <typename E>
void load_row(const E* from, float* to, int64_t n) {
  constexpr int64_t kFloats = simd::kLanes<float>;
  int64_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    simd::store(to + i, load_elements(from + i));
  }
  for (; i < n; ++i) {
    to[i] = load_element(from + i);
  }
}

/// Rounds floats to 16-bit elements.
template <typename E>
void store_row(const float* from, E* to, int64_t n) {
  [[maybe_unused]] constexpr int64_t kFloats = simd::kLanes<float>;
  int64_t i = 0;
  if constexpr (std::is_same_v<E, BFloat16>) {
#if defined(KERNELS_STORES_BFLOAT16)
    for (; i + kFloats <= n; i += kFloats) {
      simd::store_bfloat16(to + i, simd::load(from + i));
    }
#endif
    vectorized_for(n - i, [=](int64_t j) { to[i + j].x = float_to_bfloat16(from[i + j]); });
  } else {
#if defined(KERNELS_LOADS_HALF)
    for (; i + kFloats <= n; i += kFloats) {
      simd::store_half(to + i, simd::load(from + i));
    }
#endif
    vectorized_for(n - i, [=](int64_t j) { to[i + j].x = float_to_half(from[i + j]); });
  }
}

/// Converts rows of a panel of weights to floats. `has_pairs` is whether the weights of two inputs are adjacent.
template <typename E>
void convert_weights([[maybe_unused]] const E* panel, [[maybe_unused]] bool has_pairs, [[maybe_unused]] int64_t rows,
                     [[maybe_unused]] float* to) {
  [[maybe_unused]] constexpr int64_t kWidth = kFloatPanelColumns;
  if constexpr (std::is_same_v<E, BFloat16>) {
    if (has_pairs) {
      for (int64_t i = 0; i < rows; i += 2, panel += 2 * kWidth, to += 2 * kWidth) {
        vectorized_for(kWidth, [=](int64_t j) {
          uint32_t pair;
          std::memcpy(&pair, panel + 2 * j, sizeof(pair));
          to[j] = float_of(pair << 16);
          to[kWidth + j] = float_of(pair & 0xffff0000u);
        });
      }
      return;
    }
  }
  if constexpr (!std::is_same_v<E, float>) {
    load_row(panel, to, rows * kWidth);
  }
}

}  // namespace rules_executorch::kernels
