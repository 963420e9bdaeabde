#include "kernels/common/byte_table.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace rules_executorch::kernels {

#if defined(__AVX512BW__)

namespace {

/// With instructions that choose among the bytes of two vectors, which not all processors of the instruction set have.
[[gnu::target("avx512vbmi")]] void look_up_in_vectors(const uint8_t* table, const uint8_t* in, int64_t n,
                                                      uint8_t* out) {
  constexpr int64_t kBytes = 64;
  const __m512i first = _mm512_loadu_si512(table);
  const __m512i second = _mm512_loadu_si512(table + kBytes);
  const __m512i third = _mm512_loadu_si512(table + 2 * kBytes);
  const __m512i fourth = _mm512_loadu_si512(table + 3 * kBytes);
  for (int64_t i = 0; i < n; i += kBytes) {
    const __mmask64 mask = n - i >= kBytes ? ~__mmask64{0} : (__mmask64{1} << (n - i)) - 1;
    const __m512i index = _mm512_maskz_loadu_epi8(mask, in + i);
    const __m512i lower = _mm512_permutex2var_epi8(first, index, second);
    const __m512i upper = _mm512_permutex2var_epi8(third, index, fourth);
    _mm512_mask_storeu_epi8(out + i, mask, _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), lower, upper));
  }
}

}  // namespace

#endif

void look_up_bytes(const uint8_t* table, const uint8_t* in, int64_t n, uint8_t* out) {
#if defined(__AVX512BW__)
  if (__builtin_cpu_supports("avx512vbmi")) {
    look_up_in_vectors(table, in, n, out);
    return;
  }
#endif
  for (int64_t i = 0; i < n; ++i) {
    out[i] = table[in[i]];
  }
}

}  // namespace rules_executorch::kernels
