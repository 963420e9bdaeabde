#pragma once

/// Put this attribute before the `inline` of a function, or after the parameters of a lambda. The compiler then inlines
/// functions that are too large for its heuristics. Without inlining, loops over such functions are not vectorized.
#if defined(__GNUC__)
#define KERNELS_ALWAYS_INLINE __attribute__((always_inline))
#else
#define KERNELS_ALWAYS_INLINE
#endif
