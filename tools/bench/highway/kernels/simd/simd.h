#pragma once

#include <cstdint>

// x86-64-v3 and v4 have no AES, without which Highway selects SSSE3.
#define HWY_DISABLE_PCLMUL_AES
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "kernels/simd/byte_range.h"
#include "kernels/simd/copy_few_bytes.h"
#include "kernels/simd/inline.h"
#include "kernels/simd/lanes.h"
#include "kernels/simd/width.h"

/// The API of kernels/simd, as far as the compared routines use it, with the operations of Highway.

// Operators of a vector and a number, which Highway lacks. They are found in the namespace of the vectors.
namespace hwy::HWY_NAMESPACE {

template <typename V>
HWY_API V operator*(TFromV<V> factor, V vector) {
  return Mul(Set(DFromV<V>(), factor), vector);
}
template <typename V>
HWY_API V operator+(TFromV<V> addend, V vector) {
  return Add(Set(DFromV<V>(), addend), vector);
}
template <typename V>
HWY_API V operator-(V vector, TFromV<V> subtrahend) {
  return Sub(vector, Set(DFromV<V>(), subtrahend));
}

}  // namespace hwy::HWY_NAMESPACE

namespace rules_executorch::kernels::simd {

namespace hn = ::hwy::HWY_NAMESPACE;

template <typename T>
inline constexpr int64_t kLanes = kVectorBytes / sizeof(T);
template <typename T>
using Tag = hn::FixedTag<T, kLanes<T>>;
template <typename T>
using Vector = hn::Vec<Tag<T>>;
using Bytes = Vector<uint8_t>;
using Ints = Vector<int32_t>;

inline constexpr int64_t kByteLanes = kVectorBytes;
inline constexpr int64_t kGroupBytes = 4;
inline constexpr int64_t kIntLanes = kByteLanes / kGroupBytes;

static_assert(HWY_MAX_BYTES == kVectorBytes, "Highway has selected another instruction set");

template <typename V>
KERNELS_ALWAYS_INLINE inline V load_as(const void* from) {
  return hn::LoadU(hn::DFromV<V>(), static_cast<const hn::TFromV<V>*>(from));
}

template <typename T>
KERNELS_ALWAYS_INLINE inline Vector<T> load(const T* from) {
  return hn::LoadU(Tag<T>(), from);
}

template <typename V>
KERNELS_ALWAYS_INLINE inline void store(void* to, const V& vector) {
  hn::StoreU(vector, hn::DFromV<V>(), static_cast<hn::TFromV<V>*>(to));
}

template <typename V, typename T>
KERNELS_ALWAYS_INLINE inline V broadcast(T x) {
  return hn::Set(hn::DFromV<V>(), x);
}

template <typename T>
KERNELS_ALWAYS_INLINE inline T sum(const Vector<T>& vector) {
  return hn::ReduceSum(Tag<T>(), vector);
}

template <int kLocality = 3>
KERNELS_ALWAYS_INLINE inline void prefetch(const void* from) {
  ::hwy::Prefetch(static_cast<const char*>(from));
}

#if defined(__FMA__)
#define KERNELS_HAVE_FMA
KERNELS_ALWAYS_INLINE inline Vector<float> fma(Vector<float> a, Vector<float> b, Vector<float> c) {
  return hn::MulAdd(a, b, c);
}
#endif

KERNELS_ALWAYS_INLINE inline Vector<float> clamp(Vector<float> x, float minimum, float maximum) {
  return hn::Min(hn::Set(Tag<float>(), maximum), hn::Max(hn::Set(Tag<float>(), minimum), x));
}

KERNELS_ALWAYS_INLINE inline Vector<float> load_first(const float* from, int64_t n) {
  return hn::LoadN(Tag<float>(), from, n);
}
KERNELS_ALWAYS_INLINE inline void store_first(float* to, Vector<float> vector, int64_t n) {
  hn::StoreN(vector, Tag<float>(), to, n);
}
KERNELS_ALWAYS_INLINE inline Vector<float> keep_first(Vector<float> vector, int64_t n) {
  return hn::IfThenElseZero(hn::FirstN(Tag<float>(), n), vector);
}

struct Exponent {
  Vector<float> n;
  Vector<float> shifted;
};

KERNELS_ALWAYS_INLINE inline Exponent rounded_exponent(Vector<float> x, float factor) {
  const Vector<float> shift = hn::Set(Tag<float>(), 0x1.8p23f + 127);
  const Vector<float> shifted = fma(x, hn::Set(Tag<float>(), factor), shift);
  return {shifted - shift, shifted};
}

#if HWY_TARGET <= HWY_AVX3

// With intrinsics: Highway has no operation for this instruction.
KERNELS_ALWAYS_INLINE inline Vector<float> scale_by_exponent(Vector<float> x, const Exponent& exponent) {
  return Vector<float>{_mm512_maskz_scalef_ps(0xFFFF, x.raw, exponent.n.raw)};
}
KERNELS_ALWAYS_INLINE inline Vector<float> scale_by_exponent_unless_less(Vector<float> x, const Exponent& exponent,
                                                                         Vector<float> y, Vector<float> bound) {
  return Vector<float>{_mm512_maskz_scalef_ps(hn::Not(hn::Lt(y, bound)).raw, x.raw, exponent.n.raw)};
}

#else

KERNELS_ALWAYS_INLINE inline Vector<float> power_of_two(Ints n) {
  return hn::BitCast(Tag<float>(), hn::ShiftLeft<23>(hn::Add(n, hn::Set(Tag<int32_t>(), 127))));
}
KERNELS_ALWAYS_INLINE inline Vector<float> power_of_two(const Exponent& exponent) {
  return hn::BitCast(Tag<float>(), hn::ShiftLeft<23>(hn::BitCast(Tag<int32_t>(), exponent.shifted)));
}
KERNELS_ALWAYS_INLINE inline Vector<float> scale_by_exponent(Vector<float> x, const Exponent& exponent) {
  if (hn::AllTrue(Tag<float>(), hn::Le(hn::Abs(exponent.n), hn::Set(Tag<float>(), 126)))) {
    return x * power_of_two(exponent);
  }
  const Ints n = hn::ConvertInRangeTo(Tag<int32_t>(), exponent.n);
  const Ints half = hn::ShiftRight<1>(n);
  return x * power_of_two(half) * power_of_two(hn::Sub(n, half));
}
KERNELS_ALWAYS_INLINE inline Vector<float> scale_by_exponent_unless_less(Vector<float> x, const Exponent& exponent,
                                                                         Vector<float> y, Vector<float> bound) {
  return hn::IfThenZeroElse(hn::Lt(y, bound), x * power_of_two(exponent));
}

#endif

#if defined(__F16C__)
#define KERNELS_LOADS_HALF
KERNELS_ALWAYS_INLINE inline Vector<float> load_half(const void* from) {
  const hn::Rebind<::hwy::float16_t, Tag<float>> halves;
  return hn::PromoteTo(Tag<float>(), hn::LoadU(halves, static_cast<const ::hwy::float16_t*>(from)));
}
#endif

KERNELS_ALWAYS_INLINE inline Vector<float> load_bfloat16(const void* from) {
  const hn::Rebind<::hwy::bfloat16_t, Tag<float>> stored;
  return hn::PromoteTo(Tag<float>(), hn::LoadU(stored, static_cast<const ::hwy::bfloat16_t*>(from)));
}

KERNELS_ALWAYS_INLINE inline Bytes repeat_group(uint32_t group) {
  return hn::BitCast(Tag<uint8_t>(), hn::Set(Tag<uint32_t>(), group));
}

KERNELS_ALWAYS_INLINE inline Ints add_products(Ints sums, Bytes x, Bytes weights) {
  return hn::SumOfMulQuadAccumulate(Tag<int32_t>(), x, hn::BitCast(Tag<int8_t>(), weights), sums);
}

KERNELS_ALWAYS_INLINE inline Ints rounded(Ints sums, const float* scales, const float* offsets, const ByteRange& to) {
  const Tag<float> floats;
  const Vector<float> x = hn::MulAdd(hn::ConvertTo(floats, sums), load(scales), load(offsets));
  const Vector<float> clamped = hn::Min(hn::Max(x, hn::Set(floats, to.min)), hn::Set(floats, to.max));
#if HWY_TARGET <= HWY_SSE4
  return hn::ConvertInRangeTo(Tag<int32_t>(), hn::Round(clamped));  // NearestInt() has code for floats out of range.
#else
  return hn::NearestInt(clamped);
#endif
}

KERNELS_ALWAYS_INLINE inline Bytes narrow(const Ints (&x)[4]) {
  const Tag<int16_t> shorts;
  const auto bits = hn::Set(shorts, 0xFF);
  const auto low = hn::And(hn::ReorderDemote2To(shorts, x[0], x[1]), bits);
  const auto high = hn::And(hn::ReorderDemote2To(shorts, x[2], x[3]), bits);
  return hn::ReorderDemote2To(Tag<uint8_t>(), low, high);
}

/// The order of the bytes after narrow(), which works on 16-byte parts of vectors on x86.
KERNELS_ALWAYS_INLINE inline Bytes in_order(Bytes x) {
  constexpr int kParts = kVectorBytes / 16;
  alignas(kVectorBytes) int32_t order[kIntLanes];
  for (int i = 0; i < kIntLanes; ++i) {
    order[i] = i % kParts * 4 + i / kParts;
  }
  const Tag<int32_t> ints;
  return hn::BitCast(Tag<uint8_t>(), hn::TableLookupLanes(hn::BitCast(ints, x), hn::SetTableIndices(ints, order)));
}

}  // namespace rules_executorch::kernels::simd
