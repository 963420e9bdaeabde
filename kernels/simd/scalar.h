#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/simd/byte_range.h"
#include "kernels/simd/vector.h"

namespace rules_executorch::kernels::simd {

// Loops over lanes. The compiler vectorizes them if the processor has vectors.
struct Bytes {
  uint8_t lanes[16];

  friend Bytes operator^(Bytes a, const Bytes& b) {
    for (int i = 0; i < 16; ++i) {
      a.lanes[i] ^= b.lanes[i];
    }
    return a;
  }
};
struct Ints {
  int32_t lanes[4];
};
inline constexpr int64_t kByteLanes = 16;

inline Ints add_products(Ints sums, const Bytes& x, const Bytes& weights) {
  for (int i = 0; i < 4; ++i) {
    for (int j = 4 * i; j < 4 * i + 4; ++j) {
      sums.lanes[i] += static_cast<int32_t>(x.lanes[j]) * static_cast<int8_t>(weights.lanes[j]);
    }
  }
  return sums;
}

inline void interleave(const Bytes (&rows)[4], Bytes (&quads)[4]) {
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 4; ++j) {
      quads[i / 4].lanes[i % 4 * 4 + j] = rows[j].lanes[i];
    }
  }
}

inline Ints rounded(Ints sums, const float* scales, const float* offsets, const ByteRange& to) {
  for (int i = 0; i < 4; ++i) {
    float x = static_cast<float>(sums.lanes[i]) * scales[i] + offsets[i];
    x = x > to.min ? x : to.min;
    x = (x < to.max ? x : to.max) + kRoundingShift;
    std::memcpy(&sums.lanes[i], &x, sizeof(x));
  }
  return sums;
}

inline Bytes narrow(const Ints (&x)[4]) {
  Bytes bytes;
  for (int i = 0; i < 16; ++i) {
    bytes.lanes[i] = static_cast<uint8_t>(x[i / 4].lanes[i % 4]);
  }
  return bytes;
}

inline Bytes in_order(Bytes x) { return x; }

}  // namespace rules_executorch::kernels::simd
