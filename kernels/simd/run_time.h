#pragma once

#include <cstdint>

#include "kernels/simd/simd.h"
#include "kernels/simd/wide.h"

/// Instructions beyond the set that the file is compiled for. The program tests for them when it runs.
namespace rules_executorch::kernels::simd {

#if defined(__AVX512BW__) && defined(__GNUC__)
#define KERNELS_HAVE_VECTOR_TABLES 1
/// Put this attribute before a function that uses VectorTable; call the function only if has_vector_tables(). The
/// compiler inlines all callees (`flatten`) and compiles them for AVX-512 VBMI, which looks up bytes in two vectors at
/// a time.
#define KERNELS_VECTOR_TABLES [[gnu::target("avx512vbmi"), gnu::flatten]]

/// A table of 256 bytes. The constructor loads the vectors of the table, because the compiler would load them again
/// after each store.
class VectorTable {
 public:
  explicit VectorTable(const uint8_t* bytes)
      : parts_{load_as<Bytes>(bytes), load_as<Bytes>(bytes + kByteLanes), load_as<Bytes>(bytes + 2 * kByteLanes),
               load_as<Bytes>(bytes + 3 * kByteLanes)} {}

  [[gnu::target("avx512vbmi")]] inline Bytes operator()(Bytes index) const {
    const __m512i lower = _mm512_permutex2var_epi8(parts_[0], index, parts_[1]);
    const __m512i upper = _mm512_permutex2var_epi8(parts_[2], index, parts_[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), lower, upper);
  }

 private:
  Bytes parts_[4];
};

/// Not all processors with AVX-512 have VBMI.
inline bool has_vector_tables() { return __builtin_cpu_supports("avx512vbmi"); }

#else
#define KERNELS_HAVE_VECTOR_TABLES 0

inline bool has_vector_tables() { return false; }

#endif

}  // namespace rules_executorch::kernels::simd
