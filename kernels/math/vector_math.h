#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/math/bits.h"
#include "kernels/math/vector_math_parts.h"
#include "kernels/math/vectorize.h"

/// Elementary functions of floats for loops that compilers vectorize: no branches, no calls and no tables. The
/// functions only need the instructions of the baseline of x86-64 and AArch64. The constant above a function is the
/// error bound of its finite results for all arguments, in units in the last place (ulp) of the exact result. The
/// errors of denormal results are in the ulp of denormals. For NaN, infinities, signed zeros and denormals, the results
/// are those of C's functions. The overloads for doubles call C's functions.
///
/// A function splits its argument into a part that determines the result's exponent (or quadrant) and a small
/// remainder, and evaluates a polynomial of the remainder, which polynomials.h has.
namespace rules_executorch::kernels::math {

/// The nearest integer, or the even one of two nearest integers, without an error. Where no instruction rounds, the
/// addition of 2^23 (2^52 for doubles) to |x| does: the sum has no fraction bits.
template <typename T>
KERNELS_ALWAYS_INLINE inline T rint(T x) {
#if defined(__SSE4_1__) || defined(__aarch64__)
  return std::rint(x);
#else
  constexpr T kIntegers = std::is_same_v<T, float> ? T(0x1p23) : T(0x1p52);
  const T magnitude = std::abs(x);
  const T rounded = (magnitude + kIntegers) - kIntegers;
  return std::copysign(magnitude < kIntegers ? rounded : magnitude, x);
#endif
}

/// `x` clamped to a range. NaN becomes `least`.
template <typename T>
KERNELS_ALWAYS_INLINE inline T clamp_number(T x, T least, T most) {
#if defined(__aarch64__)
  return std::fmin(std::fmax(x, least), most);
#else
  const T raised = x > least ? x : least;
  return raised < most ? raised : most;
#endif
}

/// The next integer below, above, or towards zero, without an error.
template <typename T>
KERNELS_ALWAYS_INLINE inline T floor(T x) {
  const T rounded = rint(x);
  return std::copysign(rounded > x ? rounded - 1 : rounded, x);
}
template <typename T>
KERNELS_ALWAYS_INLINE inline T ceil(T x) {
  const T rounded = rint(x);
  return std::copysign(rounded < x ? rounded + 1 : rounded, x);
}
template <typename T>
KERNELS_ALWAYS_INLINE inline T trunc(T x) {
  return std::copysign(floor(std::abs(x)), x);
}

/// Whether `fmod_of_near` accepts these arguments: the quotient is small enough, and y is finite.
KERNELS_ALWAYS_INLINE inline bool is_near_multiple(float x, float y) {
  return internal::abs(x / y) < 0x1p24f && internal::abs(y) < internal::kInfinity;
}

/// The remainder of x / y, with the sign of x. Requires is_near_multiple(x, y). The remainder is exact, because doubles
/// represent each step exactly.
KERNELS_ALWAYS_INLINE inline float fmod_of_near(float x, float y) {
  const double dividend = x;
  const double divisor = y;
  const double quotient = static_cast<double>(static_cast<int32_t>(dividend / divisor));
  return internal::with_sign(internal::abs(static_cast<float>(dividend - quotient * divisor)), x);
}

/// e^x.
constexpr double kExpUlp = 1.1;
KERNELS_ALWAYS_INLINE inline float exp(float x) {
  x = x > 89 ? 89 : x;
  return internal::exp_of_bounded(x < -104 ? -104 : x);
}
inline double exp(double x) { return std::exp(x); }

/// e^x for x <= 0, in fewer instructions than `exp`. The result is 0 if e^x is denormal. An `x` slightly above 0, from
/// a rounding error, is allowed.
KERNELS_ALWAYS_INLINE inline float exp_of_negative(float x) {
  const float result = internal::exp_of_small(x);
  return x < internal::kLeastNormalExp ? 0 : result;
}
inline double exp_of_negative(double x) { return std::exp(x); }

/// e^x - 1.
constexpr double kExpm1Ulp = 2.0;
KERNELS_ALWAYS_INLINE inline float expm1(float x) {
  const float bounded = x > 90 ? 90 : x;
  return internal::with_sign(2 * internal::abs(internal::half_expm1(bounded < -18 ? -18 : bounded)), x);
}
inline double expm1(double x) { return std::expm1(x); }

/// The natural logarithm.
constexpr double kLogUlp = 1.0;
KERNELS_ALWAYS_INLINE inline float log(float x) {
  const internal::Split parts = internal::split(x);
  const float f = parts.mantissa - 1;
  const float exponent = static_cast<float>(parts.exponent);
  const float rest = internal::log_rest(f, exponent * internal::kLog2Low);
  return internal::log_of_any(x, exponent * internal::kLog2High + (f + rest));
}
inline double log(double x) { return std::log(x); }

/// The logarithm to base 2.
constexpr double kLog2Ulp = 1.5;
KERNELS_ALWAYS_INLINE inline float log2(float x) {
  constexpr float kFactor = 0x1.c551dap-2f;  // 1/log(2) - 1
  const internal::Split parts = internal::split(x);
  const float f = parts.mantissa - 1;
  const float rest = internal::log_rest(f, 0);
  return internal::log_of_any(x, static_cast<float>(parts.exponent) + (f + (rest + (rest * kFactor + f * kFactor))));
}
inline double log2(double x) { return std::log2(x); }

/// The logarithm to base 10.
constexpr double kLog10Ulp = 2.0;
KERNELS_ALWAYS_INLINE inline float log10(float x) {
  constexpr float kFactor = 0x1.bcb7b2p-2f;  // 1/log(10)
  constexpr float kHigh = 0x1.344p-2f;       // log10(2), rounded so that its products with exponents are exact
  constexpr float kLow = 0x1.3509f8p-18f;
  const internal::Split parts = internal::split(x);
  const float f = parts.mantissa - 1;
  const float exponent = static_cast<float>(parts.exponent);
  const float rest = internal::log_rest(f, 0);
  return internal::log_of_any(x, exponent * kHigh + (exponent * kLow + (f + rest) * kFactor));
}
inline double log10(double x) { return std::log10(x); }

/// log(1 + x).
constexpr double kLog1pUlp = 2.5;
KERNELS_ALWAYS_INLINE inline float log1p(float x) {
  const float u = 1 + x;
  const internal::Split parts = internal::split(u);
  const bool is_one = parts.exponent == 0;
  const float f = is_one ? x : parts.mantissa - 1;
  // The rounding error of u.
  const float rounded_off = parts.exponent > 0 ? 1 - (u - x) : x - (u - 1);
  const float correction = is_one ? 0 : rounded_off / u;
  const float exponent = static_cast<float>(parts.exponent);
  const float rest = internal::log_rest(f, exponent * internal::kLog2Low + correction);
  const float result = exponent * internal::kLog2High + (f + rest);
  return internal::log_of_any(u, internal::with_sign(internal::abs(result), x));
}
inline double log1p(double x) { return std::log1p(x); }

/// The hyperbolic sine and cosine.
constexpr double kSinhUlp = 2.5;
KERNELS_ALWAYS_INLINE inline float sinh(float x) {
  const float magnitude = internal::abs(x);
  const float e = internal::half_expm1(magnitude > 90 ? 90 : magnitude);
  const float bounded = e > 0x1p60f ? 0x1p60f : e;
  return internal::with_sign(e + bounded / (2 * bounded + 1), x);
}
inline double sinh(double x) { return std::sinh(x); }

constexpr double kCoshUlp = 2.0;
KERNELS_ALWAYS_INLINE inline float cosh(float x) {
  const float magnitude = internal::abs(x);
  const float e = internal::half_exp(magnitude > 90 ? 90 : magnitude);
  return e + 0.25f / e;
}
inline double cosh(double x) { return std::cosh(x); }

/// The hyperbolic tangent.
constexpr double kTanhUlp = 1.5;
KERNELS_ALWAYS_INLINE inline float tanh(float x) {
  const float magnitude = internal::abs(x);
  // For |x| >= 9.02, results are 1 or -1.
  const float bounded = magnitude > 10 ? 10 : magnitude;
  const float large = 1 - 2 / (internal::exp_of_small(2 * bounded) + 1);
  const float square = bounded * bounded;
  const float small = bounded + bounded * square * internal::polynomial(internal::kTanhPolynomial, square);
  return internal::with_sign(bounded < 0.625f ? small : large, x);
}
inline double tanh(double x) { return std::tanh(x); }

/// The inverse hyperbolic functions.
constexpr double kAsinhUlp = 3.5;
KERNELS_ALWAYS_INLINE inline float asinh(float x) {
  const float magnitude = internal::abs(x);
  const bool is_large = magnitude > 0x1p25f;
  const float square = is_large ? 0 : magnitude * magnitude;
  const float result = log1p(magnitude + square / (1 + std::sqrt(1 + square)));
  return internal::with_sign(result + (is_large ? internal::kLog2 : 0), x);
}
inline double asinh(double x) { return std::asinh(x); }

constexpr double kAcoshUlp = 3.5;
KERNELS_ALWAYS_INLINE inline float acosh(float x) {
  const bool is_large = x > 0x1p25f;
  const float d = x < 1 ? internal::kNaN : x - 1;
  const float bounded = is_large ? 1 : d;
  const float result = log1p(is_large ? x : d + std::sqrt(bounded * bounded + 2 * bounded));
  return result + (is_large ? internal::kLog2 : 0);
}
inline double acosh(double x) { return std::acosh(x); }

constexpr double kAtanhUlp = 3.0;
KERNELS_ALWAYS_INLINE inline float atanh(float x) {
  const float magnitude = internal::abs(x);
  return internal::with_sign(0.5f * log1p(2 * magnitude / (1 - magnitude)), x);
}
inline double atanh(double x) { return std::atanh(x); }

/// The inverse trigonometric functions.
constexpr double kAtanUlp = 1.5;
KERNELS_ALWAYS_INLINE inline float atan(float x) {
  const float magnitude = internal::abs(x);
  const bool is_large = magnitude > 1;
  const float part = internal::atan_of_ratio((is_large ? 1 : magnitude) / (is_large ? magnitude : 1));
  return internal::with_sign(is_large ? internal::kHalfPiHigh - (part - internal::kHalfPiLow) : part, x);
}
inline double atan(double x) { return std::atan(x); }

/// The angle of the point (x, y), in radians.
constexpr double kAtan2Ulp = 2.0;
KERNELS_ALWAYS_INLINE inline float atan2(float y, float x) {
  using namespace internal;
  const float x_magnitude = abs(x);
  const float y_magnitude = abs(y);
  const bool is_steep = y_magnitude > x_magnitude;
  const float high = is_steep ? y_magnitude : x_magnitude;
  const float low = is_steep ? x_magnitude : y_magnitude;
  // Equal magnitudes have their own case, because 0 / 0 and infinity / infinity are NaN.
  const float of_equal = high == 0 ? 0 : 1;
  const float part = atan_of_ratio(high == low ? of_equal : low / high);
  // part, pi/2 - part, pi - part or pi/2 + part
  const uint32_t is_left = if_negative(x);
  const float right_angles = is_steep ? 1 : select(is_left, 2, 0);
  const uint32_t minus = (is_left & kSignBit) ^ (is_steep ? kSignBit : 0);
  const float rest = float_of(to_bits(part) ^ minus) + right_angles * kHalfPiLow;
  return with_sign(right_angles * kHalfPiHigh + rest, y);
}
inline double atan2(double y, double x) { return std::atan2(y, x); }

constexpr double kAsinUlp = 2.5;
KERNELS_ALWAYS_INLINE inline float asin(float x) {
  const float magnitude = internal::abs(x);
  const float part = internal::asin_of_part(magnitude);
  return internal::with_sign(magnitude > 0.5f ? internal::kHalfPiHigh - (2 * part - internal::kHalfPiLow) : part, x);
}
inline double asin(double x) { return std::asin(x); }

constexpr double kAcosUlp = 2.0;
KERNELS_ALWAYS_INLINE inline float acos(float x) {
  using namespace internal;
  const float magnitude = abs(x);
  const float part = asin_of_part(magnitude);
  // 2 part, pi - 2 part or pi/2 - sign(x) part
  const bool is_large = magnitude > 0.5f;
  const float of_large = select(if_negative(x), 2, 0);
  const float right_angles = is_large ? of_large : 1;
  const uint32_t minus = is_large ? to_bits(x) & kSignBit : ~to_bits(x) & kSignBit;
  const float rest = float_of(to_bits(is_large ? 2 * part : part) ^ minus) + right_angles * kHalfPiLow;
  return right_angles * kHalfPiHigh + rest;
}
inline double acos(double x) { return std::acos(x); }

/// The error function.
constexpr double kErfUlp = 1.5;
KERNELS_ALWAYS_INLINE inline float erf(float x) {
  const float magnitude = internal::abs(x);
  // For |x| >= 3.92, results are 1 or -1.
  const float bounded = magnitude > 4 ? 4 : magnitude;
  const float large = 1 - internal::exp_of_small(internal::polynomial(internal::kLogErfcPolynomial, bounded));
  const float square = bounded * bounded;
  const float small = bounded + bounded * internal::polynomial(internal::kErfPolynomial, square);
  return internal::with_sign(bounded < 0.9f ? small : large, x);
}
inline double erf(double x) { return std::erf(x); }

/// The logistic function, 1 / (1 + e^-x).
constexpr double kSigmoidUlp = 2.5;
KERNELS_ALWAYS_INLINE inline float sigmoid(float x) {
  // Computes e^-|x|, because e^-x overflows while the result is still above 0.
  const float exponent = float_of(to_bits(x) | internal::kSignBit);
  const float e = internal::exp_of_bounded(exponent < -104 ? -104 : exponent);
  return internal::select(internal::if_negative(x), e, 1) / (1 + e);
}
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// x to the power of y.
constexpr double kPowUlp = 0.6;
KERNELS_ALWAYS_INLINE inline float pow(float x, float y) {
  using namespace internal;
  // Selections with bit masks: compilers would translate this many conditions to branches.
  const float x_magnitude = abs(x);
  const float y_magnitude = abs(y);
  const uint32_t is_zero = if_less(x_magnitude, kDenormal);
  const uint32_t is_large = if_less(kMaxFloat, x_magnitude);  // infinity, NaN

  // |x|^y = 2^(y log2|x|). The product is a double, because its absolute error becomes the relative error of the
  // result.
  const Split parts = split(x_magnitude);
  const float exponent = select(is_zero, -kInfinity, select(is_large, kInfinity, static_cast<float>(parts.exponent)));
  // log2(m) = 2/log(2) artanh(s)
  const double s = (static_cast<double>(parts.mantissa) - 1) / (static_cast<double>(parts.mantissa) + 1);
  const double square = s * s;
  const double log2 = static_cast<double>(exponent) + s * polynomial(kPreciseLog2Polynomial, square);
  // An infinite y is replaced by 2^32, because infinity * log2(1) is NaN. If |y| >= 2^32, results are 0, 1 or infinity.
  const double product = with_sign(min_magnitude(y_magnitude, 0x1p32f), y) * log2;

  const double shifted = product + kRoundDouble;
  const double f = product - (shifted - kRoundDouble);
  const double p = polynomial(kPreciseExp2Polynomial, f);
  // Adds the integer to the exponent of p.
  const float of_small = static_cast<float>(double_of(to_bits(p) + (to_bits(shifted) << 52)));
  const float rounded = static_cast<float>(product);
  const float of_large = float_of(to_bits(kInfinity) & ~if_negative(rounded));
  const float power = select(if_less(200, abs(rounded)), of_large, of_small);

  // For a negative x, the result is negative if y is an odd integer, and NaN if y is not an integer, unless x is zero
  // or infinite. All floats from 2^24 on are even integers.
  const float bounded = min_magnitude(y_magnitude, 0x1p24f);
  const int32_t integer = static_cast<int32_t>(bounded);
  const uint32_t is_fraction = if_less(static_cast<float>(integer), bounded);
  const uint32_t odd_sign = (static_cast<uint32_t>(integer) << 31) & ~is_fraction;
  const uint32_t is_invalid = is_fraction & if_negative(x) & ~is_zero & ~is_large;
  const uint32_t is_nan = if_less(kInfinity, x_magnitude) | if_less(kInfinity, y_magnitude);
  const float result = float_of((to_bits(power) ^ (odd_sign & to_bits(x))) | is_invalid | is_nan);
  // 1^y = x^0 = 1, also if y or x is NaN.
  const uint32_t is_one = ~if_not_zero(to_bits(x) - to_bits(1.0f)) | if_less(y_magnitude, kDenormal);
  return select(is_one, 1, result);
}
inline double pow(double x, double y) { return std::pow(x, y); }

/// Sine, cosine and tangent of arrays, in radians. C's functions compute the results of large angles one by one.
constexpr double kSinUlp = 1.6;
constexpr double kCosUlp = 1.6;
constexpr double kTanUlp = 3.5;

namespace internal {

/// out[i] = small(in[i]) for small angles and large(in[i]) for large angles, for 0 <= i < n.
template <typename Small>
inline void for_angles(int64_t n, float* out, const float* in, const Small& small, double (*large)(double)) {
  constexpr int64_t kBlock = 64;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t count = std::min(kBlock, n - start);
    const float* const from = in + start;
    float* const to = out + start;
    uint32_t has_large = 0;
    for (int64_t i = 0; i < count; ++i) {
      has_large |= is_large_angle(from[i]) ? 1 : 0;
    }
    float angles[kBlock];  // a copy, because `out` may be `in`
    if (has_large != 0) {
      std::copy_n(from, count, angles);
    }
    wide_vectorized_for(count, [=](int64_t i) KERNELS_ALWAYS_INLINE { to[i] = small(from[i]); });
    for (int64_t i = 0; has_large != 0 && i < count; ++i) {
      if (is_large_angle(angles[i])) {
        to[i] = static_cast<float>(large(static_cast<double>(angles[i])));
      }
    }
  }
}

}  // namespace internal

/// out[i] = sin(in[i]) for 0 <= i < n. `out` may be `in`.
inline void sin(int64_t n, float* out, const float* in) {
  internal::for_angles(
      n, out, in, [](float x) KERNELS_ALWAYS_INLINE { return internal::sin_of_small(x, 0); }, std::sin);
}
inline void sin(int64_t n, double* out, const double* in) {
  vectorized_for(n, [=](int64_t i) { out[i] = std::sin(in[i]); });
}

/// out[i] = cos(in[i]) for 0 <= i < n. `out` may be `in`.
inline void cos(int64_t n, float* out, const float* in) {
  internal::for_angles(
      n, out, in, [](float x) KERNELS_ALWAYS_INLINE { return internal::sin_of_small(x, 1); }, std::cos);
}
inline void cos(int64_t n, double* out, const double* in) {
  vectorized_for(n, [=](int64_t i) { out[i] = std::cos(in[i]); });
}

/// out[i] = tan(in[i]) for 0 <= i < n. `out` may be `in`.
inline void tan(int64_t n, float* out, const float* in) {
  internal::for_angles(n, out, in, [](float x) KERNELS_ALWAYS_INLINE { return internal::tan_of_small(x); }, std::tan);
}
inline void tan(int64_t n, double* out, const double* in) {
  vectorized_for(n, [=](int64_t i) { out[i] = std::tan(in[i]); });
}

}  // namespace rules_executorch::kernels::math
