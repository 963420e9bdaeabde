#pragma once

#include <cstdint>

#include "kernels/simd/simd.h"

/// Instructions that a processor may have beyond those that a file is compiled for: chosen when the program runs.
namespace rules_executorch::kernels::simd {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX__)

/// The file is compiled for vectors of 16 bytes. Nearly every processor has those of twice the size.
#define KERNELS_MAY_HAVE_WIDE_VECTORS
#define KERNELS_WIDE_VECTORS [[gnu::target("avx")]]
inline bool has_wide_vectors() { return __builtin_cpu_supports("avx"); }

#endif

#if defined(__AVX512BW__) && defined(__GNUC__)
#define KERNELS_HAVE_VECTOR_TABLES 1
/// Before a function that looks up vectors of bytes in a table, where has_vector_tables(): all that the function calls
/// becomes a part of it, which is compiled for processors with instructions that choose among the bytes of two vectors.
#define KERNELS_VECTOR_TABLES [[gnu::target("avx512vbmi"), gnu::flatten]]

/// A table of 256 bytes. Its vectors are loaded once: behind a store, the compiler would load them again.
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

/// Not all processors of the instruction set have these.
inline bool has_vector_tables() { return __builtin_cpu_supports("avx512vbmi"); }

#else
#define KERNELS_HAVE_VECTOR_TABLES 0

inline bool has_vector_tables() { return false; }

#endif

}  // namespace rules_executorch::kernels::simd
