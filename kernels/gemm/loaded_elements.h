#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/math/reduced_float.h"
#include "kernels/math/vectorize.h"
#include "kernels/simd/simd.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Whether elements of type `T` are converted to float when they are loaded.
template <typename T>
inline constexpr bool kIsReduced = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <typename T>
using Loaded = std::conditional_t<kIsReduced<T>, float, T>;

template <typename T>
inline Loaded<T> load_element(const T* source) {
  if constexpr (kIsReduced<T>) {
    // memcpy, because zeros may have been written as floats.
    uint16_t bits;
    std::memcpy(&bits, source, sizeof(bits));
    return std::is_same_v<T, Half> ? half_to_float(bits) : bfloat16_to_float(bits);
  } else {
    return *source;
  }
}

template <typename T>
inline simd::Vector<Loaded<T>> load_elements(const T* source) {
#if defined(__GNUC__)
  if constexpr (std::is_same_v<T, BFloat16>) {
    return simd::load_bfloat16(source);
  }
#endif
#if defined(KERNELS_LOADS_HALF)
  if constexpr (std::is_same_v<T, Half>) {
    return simd::load_half(source);
  }
#endif
  if constexpr (kIsReduced<T>) {
    float lanes[simd::kLanes<float>];
    KERNELS_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < simd::kLanes<float>; ++i) {
      lanes[i] = load_element(source + i);
    }
    return simd::load(lanes);
  } else {
    return simd::load(source);
  }
}

/// A float, or the bits of a pair of BFloat16. memcpy, because the memory may have elements of type BFloat16, and
/// compilers assume that these are not read as floats.
inline float load_float(const float* from) {
  float value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

}  // namespace rules_executorch::kernels
