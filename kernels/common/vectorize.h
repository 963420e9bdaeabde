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

}  // namespace rules_executorch::kernels
