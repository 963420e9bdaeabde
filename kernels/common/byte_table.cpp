#include "kernels/common/byte_table.h"

#include "kernels/common/byte_vectors.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace rules_executorch::kernels {

#if defined(__AVX512BW__)

namespace {

/// With instructions that choose among the bytes of two vectors, which not all processors of the instruction set have.
[[gnu::target("avx512vbmi")]] void look_up_in_vectors(const uint8_t* table, const uint8_t* in, int64_t rows, int64_t n,
                                                      int64_t stride, uint8_t* out) {
  constexpr int64_t kBytes = 64;
  const __m512i first = _mm512_loadu_si512(table);
  const __m512i second = _mm512_loadu_si512(table + kBytes);
  const __m512i third = _mm512_loadu_si512(table + 2 * kBytes);
  const __m512i fourth = _mm512_loadu_si512(table + 3 * kBytes);
  for (int64_t row = 0; row < rows; ++row, in += stride, out += stride) {
    for (int64_t i = 0; i < n; i += kBytes) {
      const __mmask64 mask = n - i >= kBytes ? ~__mmask64{0} : (__mmask64{1} << (n - i)) - 1;
      const __m512i index = _mm512_maskz_loadu_epi8(mask, in + i);
      const __m512i lower = _mm512_permutex2var_epi8(first, index, second);
      const __m512i upper = _mm512_permutex2var_epi8(third, index, fourth);
      const __m512i found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), lower, upper);
      if (n - i >= kBytes) {
        _mm512_storeu_si512(out + i, found);
      } else {
        // What is behind stays as it is: this is faster than to store some of the bytes.
        uint8_t bytes[kBytes];
        _mm512_storeu_si512(bytes, found);
        copy_few_bytes(out + i, bytes, n - i);
      }
    }
  }
}

}  // namespace

#endif

namespace {

void look_up(const uint8_t* table, const uint8_t* in, int64_t rows, int64_t n, int64_t stride, uint8_t* out) {
#if defined(__AVX512BW__)
  if (__builtin_cpu_supports("avx512vbmi")) {
    look_up_in_vectors(table, in, rows, n, stride, out);
    return;
  }
#endif
  for (int64_t row = 0; row < rows; ++row, in += stride, out += stride) {
    for (int64_t i = 0; i < n; ++i) {
      out[i] = table[in[i]];
    }
  }
}

}  // namespace

void look_up_bytes(const uint8_t* table, const uint8_t* in, int64_t n, uint8_t* out) {
  look_up(table, in, 1, n, 0, out);
}

void look_up_rows(const uint8_t* table, int64_t rows, int64_t n, int64_t stride, uint8_t* bytes) {
  look_up(table, bytes, rows, n, stride, bytes);
}

}  // namespace rules_executorch::kernels
