#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/simd/byte_range.h"
#include "kernels/simd/copy_few_bytes.h"
#include "kernels/simd/vector.h"

// The header of the widest instruction set that the file is compiled for.
#if !defined(__GNUC__)
#include "kernels/simd/scalar.h"
#elif defined(__AVX512BW__)
#include "kernels/simd/avx512.h"
#elif defined(__AVX2__)
#include "kernels/simd/avx2.h"
#elif defined(__SSE2__)
#include "kernels/simd/sse2.h"
#elif defined(__aarch64__)
#include "kernels/simd/neon.h"
#elif defined(__wasm_simd128__)
#include "kernels/simd/wasm.h"
#else
#include "kernels/simd/scalar.h"
#endif

// Operations that are the same on all sets, and those for sets without an instruction.
namespace rules_executorch::kernels::simd {

/// The smaller or the larger value of each two lanes. If an operand is NaN, the result is the second operand.
template <typename V>
KERNELS_ALWAYS_INLINE inline V min(V a, V b) {
#if defined(__GNUC__)
  return a < b ? a : b;
#else
  for (size_t i = 0; i < sizeof(V) / sizeof(*a.lanes); ++i) {
    a.lanes[i] = a.lanes[i] < b.lanes[i] ? a.lanes[i] : b.lanes[i];
  }
  return a;
#endif
}

template <typename V>
KERNELS_ALWAYS_INLINE inline V max(V a, V b) {
#if defined(__GNUC__)
  return a > b ? a : b;
#else
  for (size_t i = 0; i < sizeof(V) / sizeof(*a.lanes); ++i) {
    a.lanes[i] = a.lanes[i] > b.lanes[i] ? a.lanes[i] : b.lanes[i];
  }
  return a;
#endif
}

/// NaN propagates.
template <typename V>
KERNELS_ALWAYS_INLINE inline V clamp(V x, float minimum, float maximum) {
  return min(broadcast<V>(maximum), max(broadcast<V>(minimum), x));
}

#if !defined(__AVX512BW__) || !defined(__GNUC__)

/// Loads the first `n` elements and sets the other lanes to zero. Reads no memory after these elements.
KERNELS_ALWAYS_INLINE inline Vector<float> load_first(const float* from, int64_t n) {
  if (n >= kLanes<float>) {
    return load(from);
  }
  float lanes[kLanes<float>] = {};
  std::memcpy(lanes, from, n * sizeof(float));
  return load(lanes);
}

KERNELS_ALWAYS_INLINE inline void store_first(float* to, Vector<float> vector, int64_t n) {
  if (n >= kLanes<float>) {
    store(to, vector);
  } else {
    std::memcpy(to, &vector, n * sizeof(float));
  }
}

KERNELS_ALWAYS_INLINE inline Bytes load_some_bytes(const void* from, int64_t n) {
  uint8_t bytes[kByteLanes] = {};
  std::memcpy(bytes, from, static_cast<size_t>(std::min(n, kByteLanes)));
  return load_as<Bytes>(bytes);
}

#endif

#if defined(__GNUC__) && !defined(__AVX2__)

/// Converts bfloat16 to floats.
KERNELS_ALWAYS_INLINE inline Vector<float> load_bfloat16(const void* from) {
  const auto stored = load_as<Vector<uint16_t, kVectorBytes / 2>>(from);
  return reinterpret_cast<Vector<float>>(__builtin_convertvector(stored, Vector<uint32_t>) << 16);
}

#endif

#if !defined(__AVX2__) || !defined(__GNUC__)

inline constexpr int kMostParts = 1;

KERNELS_ALWAYS_INLINE inline Bytes load_parts(const uint8_t* const (&from)[1]) { return load_as<Bytes>(from[0]); }

KERNELS_ALWAYS_INLINE inline void store_parts(void* const (&to)[1], Bytes bytes) { store(to[0], bytes); }

/// Converts 16 signed bytes to floats.
KERNELS_ALWAYS_INLINE inline void load_chars(const void* from, Vector<float> (&to)[16 / kLanes<float>]) {
  float floats[16];
  const auto* const bytes = static_cast<const int8_t*>(from);
  for (int i = 0; i < 16; ++i) {
    floats[i] = static_cast<float>(bytes[i]);
  }
  std::memcpy(to, floats, sizeof(floats));
}

/// Converts 32 signed 4-bit integers, each stored with an offset of 8, to floats: the lower nibbles of 16 bytes, then
/// the higher nibbles.
KERNELS_ALWAYS_INLINE inline void load_nibbles(const void* from, Vector<float> (&to)[32 / kLanes<float>]) {
  float floats[32];
  const auto* const bytes = static_cast<const uint8_t*>(from);
  for (int i = 0; i < 16; ++i) {
    floats[i] = static_cast<float>((bytes[i] & 15) - 8);
    floats[16 + i] = static_cast<float>((bytes[i] >> 4) - 8);
  }
  std::memcpy(to, floats, sizeof(floats));
}

#endif

/// The number of bytes in a quad. The products of a quad are added to one 32-bit sum.
inline constexpr int64_t kQuadBytes = 4;

/// The number of 32-bit integers in a vector.
inline constexpr int64_t kIntLanes = kByteLanes / kQuadBytes;

KERNELS_ALWAYS_INLINE inline Bytes repeat_quad(uint32_t quad) {
  const auto quads = broadcast<Vector<uint32_t, kByteLanes>>(quad);
  return load_as<Bytes>(&quads);
}

/// Whether add_products() reads signed bytes x. On other sets, x is unsigned.
#if defined(KERNELS_MULTIPLIES_SIGNED_BYTES)
inline constexpr bool kMultipliesSignedBytes = true;
#else
inline constexpr bool kMultipliesSignedBytes = false;
#endif

/// The bits to flip in unsigned bytes x before add_products(). If the products are of signed bytes, the flip subtracts
/// 128 from x. Add the zero-point correction afterwards, 128 times the sum of the weights: lacking_sums() returns it.
inline constexpr uint8_t kFlippedBits = kMultipliesSignedBytes ? 0x80 : 0;

#if defined(KERNELS_MULTIPLIES_SIGNED_BYTES)

/// Returns in `sums` the sums of the quads of `count` rows of weights, `stride` bytes apart. A row has kVectors
/// vectors.
template <int kVectors>
KERNELS_ALWAYS_INLINE inline void sums_of_weights(const char* weights, int64_t stride, int64_t count,
                                                  Ints (&sums)[kVectors]) {
  Ints totals[kVectors] = {};
  for (int64_t i = 0; i < count; ++i, weights += stride) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      totals[j] = add_quad_weights(totals[j], load_as<Bytes>(weights + j * kByteLanes));
    }
  }
  std::memcpy(sums, totals, sizeof(totals));
}

#endif

/// Returns 128 times the sums of `count` vectors of weights, `stride` bytes apart, if add_products() multiplies signed
/// bytes. Returns 0 on other sets.
KERNELS_ALWAYS_INLINE inline Ints lacking_sums([[maybe_unused]] const char* weights, [[maybe_unused]] int64_t stride,
                                               [[maybe_unused]] int64_t count) {
#if defined(KERNELS_MULTIPLIES_SIGNED_BYTES)
  Ints sums[1];
  sums_of_weights(weights, stride, count, sums);
  return sums[0] << 7;
#else
  return Ints{};
#endif
}

/// The 32-bit sums as a vector of integers, which has operators.
KERNELS_ALWAYS_INLINE inline Vector<int32_t, kByteLanes> integers_of(const Ints& sums) {
  return load_as<Vector<int32_t, kByteLanes>>(&sums);
}

KERNELS_ALWAYS_INLINE inline Vector<float, kByteLanes> floats_of(const Vector<int32_t, kByteLanes>& integers) {
#if defined(__GNUC__)
  return __builtin_convertvector(integers, Vector<float, kByteLanes>);
#else
  Vector<float, kByteLanes> floats;
  for (int64_t i = 0; i < kByteLanes / int64_t{sizeof(float)}; ++i) {
    floats.lanes[i] = static_cast<float>(integers.lanes[i]);
  }
  return floats;
#endif
}

/// The signed 4-bit integers in the lower and in the higher nibbles of bytes, times kNibbleFactor.
struct Nibbles {
  Bytes lower;
  Bytes higher;
};

#if defined(KERNELS_SPLITS_NIBBLES)

KERNELS_ALWAYS_INLINE inline Nibbles nibbles_of(Bytes x) { return {lower_nibbles(x), higher_nibbles(x)}; }

#else

inline constexpr int kNibbleFactor = 16;

KERNELS_ALWAYS_INLINE inline Nibbles nibbles_of(Bytes x) {
  constexpr uint64_t kHigher = 0xF0F0F0F0F0F0F0F0u;
  using Words = Vector<uint64_t, kByteLanes>;
  Words lower = load_as<Words>(&x);
  Words higher = lower;
#if defined(__GNUC__)
  lower = (lower << 4) & kHigher;
  higher = higher & kHigher;
#else
  for (size_t i = 0; i < kByteLanes / sizeof(uint64_t); ++i) {
    lower.lanes[i] = (lower.lanes[i] << 4) & kHigher;
    higher.lanes[i] &= kHigher;
  }
#endif
  return {load_as<Bytes>(&lower), load_as<Bytes>(&higher)};
}

#endif

}  // namespace rules_executorch::kernels::simd
