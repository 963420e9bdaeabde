#pragma once

#include <cstdint>

#include "kernels/simd/inline.h"
#include "kernels/simd/lanes.h"

/// Before a `for` loop: its iterations do not depend on each other, even if its pointers alias.
#if defined(__clang__)
#define KERNELS_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define KERNELS_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define KERNELS_INDEPENDENT_ITERATIONS
#endif

/// Before a loop over lanes, kReductionLanes or LaneReduction's: the vectors that it becomes are told apart, so that
/// the compiler keeps them in registers. Not all lanes, which would leave nothing to vectorize.
#if defined(__GNUC__) && !defined(__clang__)
#define KERNELS_LANES _Pragma("GCC unroll 8")
#else
#define KERNELS_LANES
#endif

namespace rules_executorch::kernels {

/// Calls `body(i)` for 0 <= i < n. The calls are independent of each other. The trip count of the inner loop is a
/// constant, so that compilers vectorize it at -O2 as well, where GCC leaves alone what needs a remainder loop.
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

// Whether there are wider vectors than those that all files are compiled for.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX2__)
#define KERNELS_HAVE_WIDE_VECTORS 1
#else
#define KERNELS_HAVE_WIDE_VECTORS 0
#endif

#if KERNELS_HAVE_WIDE_VECTORS

namespace internal {

/// `vectorized_for` with vectors of twice the size, and multiplications that add.
template <typename Body>
[[gnu::target("avx2,fma")]] void vectorized_for_avx2(int64_t n, const Body& body) {
  vectorized_for(n, body);
}

}  // namespace internal

#endif

/// `vectorized_for` for long calculations, which are compiled twice: for all processors of the architecture, and for
/// those that have wider vectors and multiplications that add. These round once, so that approximations differ in their
/// last bits. `body` is KERNELS_ALWAYS_INLINE.
template <typename Body>
inline void wide_vectorized_for(int64_t n, const Body& body) {
#if KERNELS_HAVE_WIDE_VECTORS
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    internal::vectorized_for_avx2(n, body);
    return;
  }
#endif
  vectorized_for(n, body);
}

/// Combines values that come in blocks. Compilers do not reorder floating-point operations; here the order is one of
/// lanes, which depends on nothing but the count of values where all blocks but the last are multiples of kLanes.
template <typename T>
class LaneReduction {
 public:
  // Two vectors of 512 bits, half the registers of 128.
  static constexpr int64_t kLanes = 128 / static_cast<int64_t>(sizeof(T));

  explicit LaneReduction(T identity) {
    for (T& lane : lanes_) {
      lane = identity;
    }
  }

  template <typename Combine>
  void add(int64_t n, const T* values, const Combine& combine) {
    // A copy, which the compiler keeps in registers.
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

  /// The kLanes values so far; the k-th of a block goes to lane k % kLanes.
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
