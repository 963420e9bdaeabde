#pragma once

#include <cstdint>

#include "kernels/simd/inline.h"
#include "kernels/simd/lanes.h"
#include "kernels/simd/wide.h"

/// Put this macro before a `for` loop whose iterations do not depend on each other. The compiler then assumes that
/// pointers do not alias. Clang warns of each loop that stays scalar, such as one that calls a function of C.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define KERNELS_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define KERNELS_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define KERNELS_INDEPENDENT_ITERATIONS
#endif

/// Put this macro before a loop over kReductionLanes or LaneReduction::kLanes. Unrolling gives each vector of lanes its
/// own variable, so that the compiler keeps the vectors in registers. Unrolling all iterations would prevent
/// vectorization.
#if defined(__GNUC__) && !defined(__clang__)
#define KERNELS_LANES _Pragma("GCC unroll 8")
#else
#define KERNELS_LANES
#endif

namespace rules_executorch::kernels {

/// Calls `body(i)` for 0 <= i < n. The calls must be independent of each other. The trip count of the inner loop is a
/// constant, because at -O2, GCC does not vectorize loops that need a remainder loop.
template <typename Body>
KERNELS_ALWAYS_INLINE inline void vectorized_for(int64_t n, const Body& body) {
  constexpr int64_t kUnroll = 16;
  int64_t i = 0;
  for (; i + kUnroll <= n; i += kUnroll) {
    KERNELS_INDEPENDENT_ITERATIONS
    for (int64_t j = 0; j < kUnroll; ++j) {
      body(i + j);
    }
  }
  for (; i < n; ++i) {
    body(i);
  }
}

#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)

namespace internal {

template <typename Body>
KERNELS_WIDE_FMA void vectorized_for_wide_fma(int64_t n, const Body& body) {
  vectorized_for(n, body);
}

}  // namespace internal

#endif

/// `vectorized_for` for long computations. The loop is compiled twice: for all processors of the architecture, and for
/// processors with wider vectors and fused multiply-add. Fused multiply-add rounds once, so that the last bits of
/// approximations can differ. `body` must be KERNELS_ALWAYS_INLINE.
template <typename Body>
inline void wide_vectorized_for(int64_t n, const Body& body) {
#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)
  if (simd::has_wide_fma()) {
    internal::vectorized_for_wide_fma(n, body);
    return;
  }
#endif
  vectorized_for(n, body);
}

/// Reduces values that arrive in blocks. Compilers do not reorder floating-point operations, so that the reduction has
/// one accumulator for each lane. The order of the operations depends only on the number of values if the length of
/// each block except the last is a multiple of kLanes.
template <typename T>
class LaneReduction {
 public:
  // Two vectors of 512 bits, or eight vectors of 128 bits, which are half of the registers.
  static constexpr int64_t kLanes = 128 / static_cast<int64_t>(sizeof(T));

  explicit LaneReduction(T identity) {
    for (T& lane : lanes_) {
      lane = identity;
    }
  }

  template <typename Combine>
  void add(int64_t n, const T* values, const Combine& combine) {
    // A local copy, because the compiler keeps a local copy in registers.
    T lanes[kLanes];
    for (int64_t k = 0; k < kLanes; ++k) {
      lanes[k] = lanes_[k];
    }
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      KERNELS_LANES
      for (int64_t k = 0; k < kLanes; ++k) {
        lanes[k] = combine(lanes[k], values[i + k]);
      }
    }
    for (int64_t k = 0; k < kLanes; ++k) {
      lanes_[k] = lanes[k];
    }
    for (int64_t k = 0; i < n; ++i, ++k) {
      lanes_[k] = combine(lanes_[k], values[i]);
    }
  }

  /// The kLanes accumulators. Accumulator k % kLanes has the k-th value of a block.
  T* lanes() { return lanes_; }

  template <typename Combine>
  T result(const Combine& combine) const {
    T lanes[kLanes];
    for (int64_t k = 0; k < kLanes; ++k) {
      lanes[k] = lanes_[k];
    }
    merge_lanes<kLanes / 2>(lanes, [&](T& into, T other) { into = combine(into, other); });
    return lanes[0];
  }

 private:
  T lanes_[kLanes];
};

}  // namespace rules_executorch::kernels
