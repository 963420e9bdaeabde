#include "kernels/simd/half_conversions.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace rules_executorch::kernels::simd {

#if defined(__x86_64__) && defined(__GNUC__)

// All processors with AVX2 have F16C, for which __builtin_cpu_supports of Clang 14 has no name. The instruction cpuid
// is slow on virtual machines.
bool has_half_conversions() { return __builtin_cpu_supports("avx2"); }

[[gnu::target("avx,f16c")]] int64_t convert_eights(const uint16_t* from, float* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  }
  return i;
}

[[gnu::target("avx,f16c")]] int64_t convert_eights(const float* from, uint16_t* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}

#else

bool has_half_conversions() { return false; }

int64_t convert_eights(const uint16_t*, float*, int64_t) { return 0; }

int64_t convert_eights(const float*, uint16_t*, int64_t) { return 0; }

#endif

}  // namespace rules_executorch::kernels::simd
