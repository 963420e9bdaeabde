#pragma once

/// Vectors wider than those of the set that the file is compiled for. The program tests for them when it runs.
namespace rules_executorch::kernels::simd {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX__)

/// The file is compiled for vectors of 16 bytes. Nearly all processors have vectors of 32 bytes.
#define KERNELS_MAY_HAVE_WIDE_VECTORS
/// Put this attribute before a function for vectors of 32 bytes. Call the function only if has_wide_vectors().
#define KERNELS_WIDE_VECTORS [[gnu::target("avx")]]
inline bool has_wide_vectors() { return __builtin_cpu_supports("avx"); }

/// The same for AVX2 and fused multiply-add.
#define KERNELS_WIDE_FMA [[gnu::target("avx2,fma")]]
inline bool has_wide_fma() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

inline constexpr bool kMayHaveWideVectors = true;

#else

inline constexpr bool kMayHaveWideVectors = false;

#endif

}  // namespace rules_executorch::kernels::simd
