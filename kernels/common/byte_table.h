#pragma once

#include <cstdint>

#include "kernels/common/byte_vectors.h"

namespace rules_executorch::kernels {

/// `out[i] = table[in[i]]` for i < n; `table` has 256 bytes. `out` may be `in`.
void look_up_bytes(const uint8_t* table, const uint8_t* in, int64_t n, uint8_t* out);

/// The same for `rows` rows of `n` bytes, which are `stride` bytes apart and become what they are in the table.
void look_up_rows(const uint8_t* table, int64_t rows, int64_t n, int64_t stride, uint8_t* bytes);

#if defined(__AVX512BW__) && defined(__GNUC__)
#define KERNELS_HAVE_VECTOR_TABLES 1
/// Before a function that looks up vectors of bytes in a table, where has_vector_tables(): all that the function calls
/// becomes a part of it, which is compiled for processors with instructions that choose among the bytes of two vectors.
#define KERNELS_VECTOR_TABLES [[gnu::target("avx512vbmi"), gnu::flatten]]

/// A table of 256 bytes. Its vectors are loaded once: behind a store, the compiler would load them again.
class VectorTable {
 public:
  explicit VectorTable(const uint8_t* bytes)
      : parts_{load_bytes(bytes), load_bytes(bytes + kByteLanes), load_bytes(bytes + 2 * kByteLanes),
               load_bytes(bytes + 3 * kByteLanes)} {}

  [[gnu::target("avx512vbmi")]] inline Bytes operator()(Bytes index) const {
    const __m512i lower = _mm512_permutex2var_epi8(parts_[0], index, parts_[1]);
    const __m512i upper = _mm512_permutex2var_epi8(parts_[2], index, parts_[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), lower, upper);
  }

 private:
  Bytes parts_[4];
};

/// Not all processors of the instruction set have these.
inline bool has_vector_tables() { return __builtin_cpu_supports("avx512vbmi"); }

#else
#define KERNELS_HAVE_VECTOR_TABLES 0

inline bool has_vector_tables() { return false; }

#endif

}  // namespace rules_executorch::kernels
