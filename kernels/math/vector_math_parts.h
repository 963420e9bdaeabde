#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/math/bits.h"
#include "kernels/math/polynomials.h"
#include "kernels/math/vectorize.h"

/// The common parts of the functions of vector_math.h.
namespace rules_executorch::kernels::math {

namespace internal {

constexpr uint32_t kSignBit = 0x80000000;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kMaxFloat = std::numeric_limits<float>::max();
constexpr float kMinNormal = std::numeric_limits<float>::min();
constexpr float kDenormal = std::numeric_limits<float>::denorm_min();

/// The sum of a small number and this constant is rounded to an integer. The low bits of the sum are the integer.
constexpr float kRound = 0x1.8p23f;
constexpr double kRoundDouble = 0x1.8p52;

template <typename T, size_t kTerms, size_t... kIndices>
KERNELS_ALWAYS_INLINE inline T polynomial(const T (&coefficients)[kTerms], T x, std::index_sequence<kIndices...>) {
  T sum = coefficients[0];
  ((sum = sum * x + coefficients[1 + kIndices]), ...);
  return sum;
}

/// The value of a polynomial, of which `coefficients` has the highest degree first. There is no loop, because compilers
/// vectorize only innermost loops.
template <typename T, size_t kTerms>
KERNELS_ALWAYS_INLINE inline T polynomial(const T (&coefficients)[kTerms], T x) {
  return polynomial(coefficients, x, std::make_index_sequence<kTerms - 1>());
}

/// log(2) in two parts. The first part has few bits, so that its products with exponents are exact.
constexpr float kLog2High = 0x1.62ep-1f;
constexpr float kLog2Low = 0x1.0bfbe8p-15f;
constexpr float kLog2 = kLog2High + kLog2Low;

inline float abs(float x) { return float_of(to_bits(x) & ~kSignBit); }

/// `magnitude` with the sign of `sign`. `magnitude` must not be negative.
inline float with_sign(float magnitude, float sign) {
  return float_of(to_bits(magnitude) | (to_bits(sign) & kSignBit));
}

/// A mask of all bits if a < b, otherwise 0. Neither number may be negative. NaN counts as larger than infinity.
inline uint32_t if_less(float a, float b) {
  return static_cast<uint32_t>(static_cast<int32_t>(to_bits(a) - to_bits(b)) >> 31);
}

/// A mask of all bits if the sign bit is set, otherwise 0.
inline uint32_t if_negative(float x) { return static_cast<uint32_t>(static_cast<int32_t>(to_bits(x)) >> 31); }

/// A mask of all bits if `bits` is not 0, otherwise 0.
inline uint32_t if_not_zero(uint32_t bits) {
  return static_cast<uint32_t>(static_cast<int32_t>(bits | (0 - bits)) >> 31);
}

/// `yes` if `mask` has all bits, `no` if `mask` is 0.
inline float select(uint32_t mask, float yes, float no) {
  return float_of((to_bits(yes) & mask) | (to_bits(no) & ~mask));
}

/// The smaller of two numbers. Neither number may be negative. NaN counts as larger than infinity.
inline float min_magnitude(float a, float b) { return select(if_less(a, b), a, b); }

/// 2^n for -126 <= n <= 127.
inline float power_of_two(uint32_t n) { return float_of((n + 127) << 23); }

/// 1/log(2).
constexpr float kLog2e = 0x1.715476p+0f;

/// The smallest argument for which e^x is not denormal.
constexpr float kLeastNormalExp = -0x1.5d589ep6f;

/// e^x = 2^n (1 + rest), with 1 + rest = e^r and |r| <= log(2)/2.
struct ExpParts {
  float rest;
  uint32_t n;
};

KERNELS_ALWAYS_INLINE inline ExpParts exp_parts(float x) {
  const float shifted = x * kLog2e + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * kLog2High) - n * kLog2Low;
  return {r + r * r * polynomial(kExpPolynomial, r), to_bits(shifted) - to_bits(kRound)};
}

/// e^x for -104 <= x <= 89 and for NaN. The result is 0 at the lower bound and infinity at the upper bound.
KERNELS_ALWAYS_INLINE inline float exp_of_bounded(float x) {
  const ExpParts parts = exp_parts(x);
  // Two factors, because a float cannot have the exponents of all results. The last product rounds if the result is
  // denormal.
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(parts.n) >> 1);
  return (1 + parts.rest) * power_of_two(half) * power_of_two(parts.n - half);
}

/// e^x, if the result is neither infinite nor denormal.
KERNELS_ALWAYS_INLINE inline float exp_of_small(float x) {
  const ExpParts parts = exp_parts(x);
  return (1 + parts.rest) * power_of_two(parts.n);
}

/// e^x / 2 for |x| <= 90, which is finite if sinh(x) and cosh(x) are finite.
KERNELS_ALWAYS_INLINE inline float half_exp(float x) {
  const ExpParts parts = exp_parts(x);
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(parts.n) >> 1);
  return (1 + parts.rest) * power_of_two(parts.n - 1 - half) * power_of_two(half);
}

/// (e^x - 1) / 2 for -18 <= x <= 90.
KERNELS_ALWAYS_INLINE inline float half_expm1(float x) {
  const ExpParts parts = exp_parts(x);
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(parts.n) >> 1);
  const float factor = power_of_two(parts.n - 1 - half);
  return power_of_two(half) * (factor * parts.rest + (factor - power_of_two(0 - 1 - half)));
}

/// magnitude = 2^exponent * mantissa, with sqrt(1/2) <= mantissa < sqrt(2), for a finite positive magnitude.
struct Split {
  float mantissa;
  int32_t exponent;
};

KERNELS_ALWAYS_INLINE inline Split split(float magnitude) {
  constexpr uint32_t kRootOfHalf = 0x3f3504f3;
  const uint32_t is_denormal = if_less(magnitude, kMinNormal);
  const uint32_t bits = to_bits(select(is_denormal, magnitude * 0x1p25f, magnitude)) - kRootOfHalf;
  const int32_t exponent = (static_cast<int32_t>(bits) >> 23) - static_cast<int32_t>(is_denormal & 25);
  return {float_of((bits & 0x7fffff) + kRootOfHalf), exponent};
}

/// log(1 + f) - f + addend = -f^2/2 + f^3/3 - ... + addend, for sqrt(1/2) <= 1 + f < sqrt(2).
KERNELS_ALWAYS_INLINE inline float log_rest(float f, float addend) {
  const float square = f * f;
  return f * square * polynomial(kLogPolynomial, f) + addend - 0.5f * square;
}

/// `result` if x is positive and finite, otherwise the logarithm of x: -infinity, infinity or NaN.
KERNELS_ALWAYS_INLINE inline float log_of_any(float x, float result) {
  const float of_positive = x < kInfinity ? result : x;
  return x > 0 ? of_positive : (x == 0 ? -kInfinity : kNaN);
}

/// pi/2 in two parts.
constexpr float kHalfPiHigh = 0x1.921fb6p+0f;
constexpr float kHalfPiLow = -0x1.777a5cp-25f;

/// atan(t) for 0 <= t <= 1.
KERNELS_ALWAYS_INLINE inline float atan_of_ratio(float t) {
  const float square = t * t;
  return t + t * square * polynomial(kAtanPolynomial, square);
}

/// acos(magnitude) / 2 if magnitude > 1/2, otherwise asin(magnitude).
KERNELS_ALWAYS_INLINE inline float asin_of_part(float magnitude) {
  const bool is_large = magnitude > 0.5f;
  const float square = is_large ? (1 - magnitude) * 0.5f : magnitude * magnitude;
  const float s = is_large ? std::sqrt(square) : magnitude;
  return s + s * square * polynomial(kAsinPolynomial, square);
}

/// Whether an angle is too large for divide_angle. False for NaN.
KERNELS_ALWAYS_INLINE inline bool is_large_angle(float x) { return abs(x) > 0x1p22f; }

/// x = quadrant * pi/2 + r, with |r| <= pi/4. `sine` and `cosine` are those of r.
struct Angle {
  float sine;
  float cosine;
  uint32_t quadrant;
};

/// Requires !is_large_angle(x).
KERNELS_ALWAYS_INLINE inline Angle divide_angle(float x) {
  constexpr double kHigh = 0x1.921fb544p+0;  // 31 bits, so that its products with the number of quadrants are exact
  constexpr double kLow = 0x1.0b4611a626331p-34;
  const double shifted = x * 0x1.45f306dc9c883p-1 + kRoundDouble;
  const double n = shifted - kRoundDouble;
  const float r = static_cast<float>((x - n * kHigh) - n * kLow);

  const float magnitude = abs(r);
  const float square = r * r;
  const float s = polynomial(kSinPolynomial, square);
  const float c = polynomial(kCosPolynomial, square);
  return {with_sign(magnitude + magnitude * square * s, r), 1 - (0.5f * square - square * square * c),
          static_cast<uint32_t>(to_bits(shifted))};
}

/// sin(x + quadrants * pi/2). Requires !is_large_angle(x).
KERNELS_ALWAYS_INLINE inline float sin_of_small(float x, uint32_t quadrants) {
  const Angle angle = divide_angle(x);
  const uint32_t quadrant = angle.quadrant + quadrants;
  const float result = (quadrant & 1) != 0 ? angle.cosine : angle.sine;
  return float_of(to_bits(result) ^ ((quadrant & 2) << 30));
}

KERNELS_ALWAYS_INLINE inline float tan_of_small(float x) {
  const Angle angle = divide_angle(x);
  const bool is_odd = (angle.quadrant & 1) != 0;
  const float quotient = (is_odd ? angle.cosine : angle.sine) / (is_odd ? angle.sine : angle.cosine);
  return float_of(to_bits(quotient) ^ (angle.quadrant << 31));
}

}  // namespace internal

}  // namespace rules_executorch::kernels::math
