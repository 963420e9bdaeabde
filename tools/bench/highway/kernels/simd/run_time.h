#pragma once

#include <cstdint>

#include "kernels/simd/simd.h"

/// kernels/simd/run_time.h for the vectors of Highway.
namespace rules_executorch::kernels::simd {

#if HWY_TARGET <= HWY_AVX3

#define KERNELS_HAVE_VECTOR_TABLES 1
#define KERNELS_VECTOR_TABLES [[gnu::target("avx512vbmi"), gnu::flatten]]

/// With intrinsics: Highway looks up in two vectors of bytes for sets with VBMI only.
class VectorTable {
 public:
  explicit VectorTable(const uint8_t* bytes)
      : parts_{load(bytes), load(bytes + kByteLanes), load(bytes + 2 * kByteLanes), load(bytes + 3 * kByteLanes)} {}

  [[gnu::target("avx512vbmi")]] inline Bytes operator()(Bytes index) const {
    const Bytes lower{_mm512_permutex2var_epi8(parts_[0].raw, index.raw, parts_[1].raw)};
    const Bytes upper{_mm512_permutex2var_epi8(parts_[2].raw, index.raw, parts_[3].raw)};
    return {_mm512_mask_blend_epi8(_mm512_movepi8_mask(index.raw), lower.raw, upper.raw)};
  }

 private:
  Bytes parts_[4];
};

inline bool has_vector_tables() { return __builtin_cpu_supports("avx512vbmi"); }

#else

#define KERNELS_HAVE_VECTOR_TABLES 0
inline bool has_vector_tables() { return false; }

#endif

}  // namespace rules_executorch::kernels::simd
