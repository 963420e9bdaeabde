#pragma once

/// Before a function's `inline`, or behind the parameters of a lambda: calls of a function that is too large for the
/// compiler's taste are inlined as well, without which loops over it are not vectorized.
#if defined(__GNUC__)
#define KERNELS_ALWAYS_INLINE __attribute__((always_inline))
#else
#define KERNELS_ALWAYS_INLINE
#endif
