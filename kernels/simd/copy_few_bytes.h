#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/simd/inline.h"

namespace rules_executorch::kernels::simd {

/// Copies `n` bytes. Use this function for a few bytes, where a call of memcpy takes longer.
KERNELS_ALWAYS_INLINE inline void copy_few_bytes(void* to, const void* from, int64_t n) {
  auto* target = static_cast<char*>(to);
  const auto* source = static_cast<const char*>(from);
  for (; n >= 16; n -= 16, target += 16, source += 16) {
    std::memcpy(target, source, 16);
  }
  if (n >= 8) {
    std::memcpy(target, source, 8);
    n -= 8, target += 8, source += 8;
  }
  for (; n > 0; --n) {
    *target++ = *source++;
  }
}

}  // namespace rules_executorch::kernels::simd
