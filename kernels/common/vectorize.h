#pragma once

#include <cstdint>

/// Before a `for` loop: its iterations do not depend on each other, even if its pointers alias.
#if defined(__clang__)
#define KERNELS_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define KERNELS_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define KERNELS_INDEPENDENT_ITERATIONS
#endif

/// Before a function's `inline`, or behind the parameters of a lambda: calls of a function that is too large for the
/// compiler's taste are inlined as well, without which loops over it are not vectorized.
#if defined(__GNUC__)
#define KERNELS_ALWAYS_INLINE __attribute__((always_inline))
#else
#define KERNELS_ALWAYS_INLINE
#endif

namespace rules_executorch::kernels {

/// Calls `body(i)` for 0 <= i < n. The calls are independent of each other. The trip count of the inner loop is a
/// constant, so that compilers vectorize it at -O2 as well, where GCC leaves alone what needs a remainder loop.
template <typename Body>
inline void vectorized_for(int64_t n, const Body& body) {
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

/// Combines values that come in blocks. Compilers do not reorder floating-point operations; here the order is one of
/// lanes, which depends on nothing but the count of values where all blocks but the last are multiples of kLanes.
template <typename T>
class LaneReduction {
 public:
  static constexpr int64_t kLanes = 16;

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
      for (int64_t k = 0; k < kLanes; ++k) {
        lanes[k] = combine(lanes[k], values[i + k]);
      }
    }
    for (int64_t k = 0; k < kLanes; ++k) {
      lanes_[k] = i + k < n ? combine(lanes[k], values[i + k]) : lanes[k];
    }
  }

  template <typename Combine>
  T result(const Combine& combine) const {
    T lanes[kLanes];
    for (int64_t k = 0; k < kLanes; ++k) {
      lanes[k] = lanes_[k];
    }
    for (int64_t width = kLanes / 2; width > 0; width /= 2) {
      for (int64_t k = 0; k < width; ++k) {
        lanes[k] = combine(lanes[k], lanes[k + width]);
      }
    }
    return lanes[0];
  }

 private:
  T lanes_[kLanes];
};

}  // namespace rules_executorch::kernels
