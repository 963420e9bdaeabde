// Compares the functions of vector_math.h with C's functions of long double (of double on platforms where both are the
// same). Tests that errors are within the bounds of the header, for arguments of all exponents and for arguments near
// the values where a function switches between cases.

#include "kernels/math/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "kernels/math/exponentials.h"
#include "kernels/math/gelu.h"
#include "kernels/math/vectorize.h"

namespace rules_executorch::kernels {
namespace {

using Exact = long double;
using Limits = std::numeric_limits<float>;

constexpr int kMantissas = 1000;  // for each exponent and sign

void expect(bool condition, const char* what, double x, double y = 0) {
  EXPECT_TRUE(condition) << what << ", at " << x << ", " << y;
}

/// Prints the largest error.
void expect_at_most(double worst, double bound, const char* function, double x, double y = 0) {
  std::printf("%s: %.3f ulp, at most %.3f\n", function, worst, bound);
  expect(worst <= bound, function, x, y);
}

/// The distance of a float from the exact result, in units in the last place of the exact result. Infinity counts as
/// the number after the largest float.
double error_in_ulp(float result, Exact exact) {
  if (std::isnan(exact) || std::isnan(result)) {
    return std::isnan(exact) && std::isnan(result) ? 0 : Limits::infinity();
  }
  const Exact overflow = std::ldexp(Exact(1), Limits::max_exponent);
  const Exact bounded = std::clamp(exact, -overflow, overflow);
  const Exact value = std::isinf(result) ? std::copysign(overflow, Exact(result)) : Exact(result);
  const int exponent = bounded == 0 ? Limits::min_exponent : std::max(std::ilogb(bounded) + 1, Limits::min_exponent);
  return static_cast<double>(std::abs(value - bounded) / std::ldexp(Exact(1), exponent - Limits::digits));
}

/// Floats of all exponents and both signs, denormals, zeros, infinities and NaN, and the neighbors of `boundaries`.
std::vector<float> samples(const std::vector<float>& boundaries) {
  std::vector<float> values = {Limits::quiet_NaN()};
  std::mt19937 random;
  const auto add_both = [&](float value) {
    values.push_back(value);
    values.push_back(-value);
  };
  for (uint32_t exponent = 0; exponent < 255; ++exponent) {
    add_both(float_of(exponent << 23));
    add_both(float_of((exponent << 23) | 0x7fffff));
    for (int i = 0; i < kMantissas; ++i) {
      add_both(float_of((exponent << 23) | (random() & 0x7fffff)));
    }
  }
  add_both(Limits::infinity());
  for (const float boundary : boundaries) {
    float below = boundary;
    float above = boundary;
    for (int i = 0; i < 50; ++i) {
      add_both(below);
      add_both(above);
      below = std::nextafter(below, -Limits::infinity());
      above = std::nextafter(above, Limits::infinity());
    }
  }
  return values;
}

/// The results of a loop with wide vectors, and of a loop with the vectors that all processors of the architecture
/// have.
struct Results {
  std::vector<float> wide;
  std::vector<float> narrow;
};

/// Tests that the result of an element does not depend on its position in a loop, because threads divide the range.
template <typename Loop>
void expect_same_alone(const Loop& loop, const std::vector<float>& together) {
  const int64_t n = static_cast<int64_t>(together.size());
  std::vector<float> alone(together.size());
  for (int64_t i = 0; i < n; ++i) {
    loop(i, int64_t{1}, alone.data());
  }
  for (size_t i = 0; i < together.size(); ++i) {
    expect(to_bits(alone[i]) == to_bits(together[i]) || alone[i] != alone[i], "alone", together[i]);
  }
}

/// The results of loops over `n` elements. `body(i)` returns the i-th result.
template <typename Body>
Results results_of_loops(size_t n, const Body& body) {
  const auto wide = [&](int64_t first, int64_t count, float* out) {
    wide_vectorized_for(count, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[first + i] = body(first + i); });
  };
  const auto narrow = [&](int64_t first, int64_t count, float* out) {
    vectorized_for(count, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[first + i] = body(first + i); });
  };
  Results results{std::vector<float>(n), std::vector<float>(n)};
  wide(0, static_cast<int64_t>(n), results.wide.data());
  narrow(0, static_cast<int64_t>(n), results.narrow.data());
  expect_same_alone(wide, results.wide);
  expect_same_alone(narrow, results.narrow);
  return results;
}

template <typename Function>
Results results_of(const Function& function, const std::vector<float>& values) {
  const float* const in = values.data();
  return results_of_loops(values.size(), [=](int64_t i) KERNELS_ALWAYS_INLINE { return function(in[i]); });
}

void expect_within(double bound, const char* function, const std::vector<float>& values, const Results& results,
                   const std::function<Exact(Exact)>& exact) {
  double worst = 0;
  float worst_value = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const Exact expected = exact(values[i]);
    for (const float result : {results.wide[i], results.narrow[i]}) {
      const double error = error_in_ulp(result, expected);
      if (!(error <= worst)) {
        worst = error;
        worst_value = values[i];
      }
      expect(expected != 0 || std::signbit(result) == std::signbit(expected), "the sign of a zero", values[i]);
    }
  }
  expect_at_most(worst, bound, function, worst_value);
}

/// Multiples of `step`.
std::vector<float> multiples(Exact step, int count) {
  std::vector<float> values;
  for (int i = 1; i <= count; ++i) {
    values.push_back(static_cast<float>(step * i));
  }
  return values;
}

const Exact kHalfPi = std::acos(Exact(0));

/// The least argument of exp whose result is not denormal.
constexpr float kLeastNormalExp = -87.33654F;

std::vector<float> samples_of_exp() {
  std::vector<float> boundaries = multiples(std::log(Exact(2)) / 2, 300);
  boundaries.insert(boundaries.end(), {kLeastNormalExp, 88.72284F, 89, 103.27893F, 103.97208F, 104});
  return samples(boundaries);
}

void keep_negative(std::vector<float>& values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](float x) { return x > 0; }), values.end());
}

TEST(VectorMath, Exp) {
  const std::vector<float> values = samples_of_exp();
  expect_within(math::kExpUlp, "exp", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::exp(x); }, values),
                [](Exact x) { return std::exp(x); });
}

TEST(VectorMath, ExpOfNegative) {
  std::vector<float> values = samples_of_exp();
  keep_negative(values);
  expect_within(math::kExpUlp, "exp of negative", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::exp_of_negative(x); }, values),
                [](Exact x) { return x < Exact(kLeastNormalExp) ? Exact(0) : std::exp(x); });
}

/// The results of a function of arrays.
template <typename Loop>
Results results_of_array(const Loop& loop, const std::vector<float>& values) {
  std::vector<float> results(values.size());
  loop(static_cast<int64_t>(values.size()), results.data(), values.data());
  expect_same_alone([&](int64_t i, int64_t n, float* out) { loop(n, out + i, values.data() + i); }, results);
  return {results, results};
}

TEST(VectorMath, ExpOfArrays) {
  std::vector<float> values = samples_of_exp();
  expect_within(math::kExpUlp, "exp of an array", values,
                results_of_array([](int64_t n, float* out, const float* in) { math::exp(n, out, in); }, values),
                [](Exact x) { return std::exp(x); });
  keep_negative(values);
  const auto loop = [](int64_t n, float* out, const float* in) {
    LaneReduction<float> sum(0);
    math::exp_of_negative(n, out, in, 0.0f, sum);
  };
  expect_within(math::kExpUlp, "exp of an array of negative numbers", values, results_of_array(loop, values),
                [](Exact x) { return x < Exact(kLeastNormalExp) ? Exact(0) : std::exp(x); });
}

TEST(VectorMath, Silu) {
  std::vector<float> values = samples({17, 87.33654F, 88.72284F});
  const auto overflows = [](float x) { return -x > 88.7F; };
  values.erase(std::remove_if(values.begin(), values.end(), overflows), values.end());
  const auto exact = [](Exact x) { return x / (1 + std::exp(-x)); };
  expect_within(math::kSiluUlp, "silu", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::silu(x); }, values), exact);
  expect_within(math::kSiluUlp, "silu of an array", values,
                results_of_array([](int64_t n, float* out, const float* in) { math::silu(n, out, in); }, values),
                exact);
  std::vector<float> large = {-89, -104, Limits::lowest()};
  math::silu(3, large.data(), large.data());
  EXPECT_EQ(large, std::vector<float>(3));
}

/// Tests the error bound of `results`, relative to |x|.
void expect_gelu(const char* function, const std::vector<float>& values, const Results& results,
                 const std::function<Exact(Exact)>& exact) {
  double worst = 0;
  float worst_value = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    for (const float result : {results.wide[i], results.narrow[i]}) {
      if (!std::isfinite(values[i])) {
        const bool is_infinity = values[i] > 0 && result == values[i];
        expect(std::isnan(result) || is_infinity, function, values[i]);
        continue;
      }
      const Exact rounded = Exact(Limits::denorm_min()) / 2;
      const Exact difference = std::abs(result - exact(values[i]));
      const double error = static_cast<double>(std::max(difference - rounded, Exact(0)) /
                                               std::max(std::abs(Exact(values[i])), Exact(Limits::denorm_min())));
      if (!(error <= worst)) {
        worst = error;
        worst_value = values[i];
      }
    }
  }
  std::printf("%s: %.3g, at most %.3g\n", function, worst, math::kGeluError);
  expect(worst <= math::kGeluError, function, worst_value);
}

TEST(VectorMath, Gelu) {
  std::vector<float> values = samples({7});
  for (const float boundary : multiples(Exact(0.390625) / 2, 36)) {
    values.insert(values.end(), {boundary, -boundary, std::nextafter(boundary, 0.0F), -std::nextafter(boundary, 0.0F)});
  }
  const auto exact = [](Exact x) { return x * std::erfc(-x * std::sqrt(Exact(0.5))) / 2; };
  expect_gelu("gelu", values, results_of([](float x) KERNELS_ALWAYS_INLINE { return math::gelu(x); }, values), exact);
  expect_gelu("gelu of an array", values,
              results_of_array([](int64_t n, float* out, const float* in) { math::gelu(n, out, in); }, values), exact);
  const auto exact_tanh = [](Exact x) {
    return x * (1 + std::tanh(std::sqrt(2 / std::acos(Exact(-1))) * (x + Exact(0.044715) * x * x * x))) / 2;
  };
  expect_gelu("gelu_tanh", values, results_of([](float x) KERNELS_ALWAYS_INLINE { return math::gelu_tanh(x); }, values),
              exact_tanh);
  expect_gelu("gelu_tanh of an array", values,
              results_of_array([](int64_t n, float* out, const float* in) { math::gelu_tanh(n, out, in); }, values),
              exact_tanh);
}

TEST(VectorMath, SumsOfExponentials) {
  for (const int64_t n : {0, 1, 15, 16, 17, 31, 32, 33, 48, 100}) {
    std::vector<float> values;
    for (int64_t i = 0; i < n; ++i) {
      values.push_back(static_cast<float>(i % 7));
    }
    std::vector<float> results(n);
    LaneReduction<float> sum(0);
    double expected = 0;
    for (int part = 0; part < 2; ++part) {
      math::exp_of_negative(n, results.data(), values.data(), 0.5f, 3.0f, sum);
      expected = std::accumulate(results.begin(), results.end(), expected);
    }
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_FLOAT_EQ(results[i], std::exp(0.5f * values[i] - 3));
    }
    EXPECT_NEAR(sum.result([](float a, float b) { return a + b; }), expected, expected * 1e-6) << n;
    math::exp_of_negative(n, values.data(), values.data(), 0.5f, 3.0f, sum);
    EXPECT_EQ(values, results) << "in place";
  }
}

TEST(VectorMath, SumOfManyEqualExponentials) {
  // Rounding errors of equal terms have one sign.
  const std::vector<float> values(4096, -2.3f);
  std::vector<float> results(values.size());
  LaneReduction<float> sum(0);
  constexpr int kBlocks = 32;
  for (int block = 0; block < kBlocks; ++block) {
    math::exp_of_negative(static_cast<int64_t>(values.size()), results.data(), values.data(), 0.0f, sum);
  }
  const double expected = kBlocks * std::accumulate(results.begin(), results.end(), 0.0);
  EXPECT_NEAR(sum.result([](float a, float b) { return a + b; }), expected, expected * 2e-5);
}

TEST(VectorMath, Log) {
  const std::vector<float> values = samples({std::sqrt(0.5F), std::sqrt(2.0F), 1, Limits::min(), Limits::max()});
  expect_within(math::kLogUlp, "log", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::log(x); }, values),
                [](Exact x) { return std::log(x); });
}

TEST(VectorMath, Expm1) {
  std::vector<float> boundaries = multiples(std::log(Exact(2)) / 2, 300);
  boundaries.insert(boundaries.end(), {17.32868F, 18, 88.72284F, 90});
  const std::vector<float> values = samples(boundaries);
  expect_within(math::kExpm1Ulp, "expm1", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::expm1(x); }, values),
                [](Exact x) { return std::expm1(x); });
}

TEST(VectorMath, OtherLogs) {
  const std::vector<float> values =
      samples({std::sqrt(0.5F), std::sqrt(2.0F), std::sqrt(0.5F) - 1, std::sqrt(2.0F) - 1, 1, 10, 100, 0x1p24F});
  expect_within(math::kLog2Ulp, "log2", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::log2(x); }, values),
                [](Exact x) { return std::log2(x); });
  expect_within(math::kLog10Ulp, "log10", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::log10(x); }, values),
                [](Exact x) { return std::log10(x); });
  expect_within(math::kLog1pUlp, "log1p", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::log1p(x); }, values),
                [](Exact x) { return std::log1p(x); });
}

TEST(VectorMath, Hyperbolic) {
  std::vector<float> boundaries = multiples(std::log(Exact(2)) / 2, 300);
  boundaries.insert(boundaries.end(), {88.72284F, 89.415985F, 90});
  const std::vector<float> values = samples(boundaries);
  expect_within(math::kSinhUlp, "sinh", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::sinh(x); }, values),
                [](Exact x) { return std::sinh(x); });
  expect_within(math::kCoshUlp, "cosh", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::cosh(x); }, values),
                [](Exact x) { return std::cosh(x); });
}

TEST(VectorMath, InverseHyperbolic) {
  const std::vector<float> values = samples({0.5F, 1, 1.1F, 1.5F, 2, 3, 0x1p25F, Limits::max()});
  expect_within(math::kAsinhUlp, "asinh", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::asinh(x); }, values),
                [](Exact x) { return std::asinh(x); });
  expect_within(math::kAcoshUlp, "acosh", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::acosh(x); }, values),
                [](Exact x) { return std::acosh(x); });
  expect_within(math::kAtanhUlp, "atanh", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::atanh(x); }, values),
                [](Exact x) { return std::atanh(x); });
}

TEST(VectorMath, InverseTrigonometric) {
  const std::vector<float> values = samples({0.5F, 1, 2, 1e7F});
  expect_within(math::kAtanUlp, "atan", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::atan(x); }, values),
                [](Exact x) { return std::atan(x); });
  expect_within(math::kAsinUlp, "asin", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::asin(x); }, values),
                [](Exact x) { return std::asin(x); });
  expect_within(math::kAcosUlp, "acos", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::acos(x); }, values),
                [](Exact x) { return std::acos(x); });
}

TEST(VectorMath, Tanh) {
  const std::vector<float> values = samples({0.625F, 9.010913F, 10});
  expect_within(math::kTanhUlp, "tanh", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::tanh(x); }, values),
                [](Exact x) { return std::tanh(x); });
}

TEST(VectorMath, Erf) {
  const std::vector<float> values = samples({0.9F, 3.919206F, 4});
  expect_within(math::kErfUlp, "erf", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::erf(x); }, values),
                [](Exact x) { return std::erf(x); });
}

TEST(VectorMath, Sigmoid) {
  const std::vector<float> values = samples({17, 87.33654F, 88.72284F, 103.97208F, 104});
  expect_within(math::kSigmoidUlp, "sigmoid", values,
                results_of([](float x) KERNELS_ALWAYS_INLINE { return math::sigmoid(x); }, values),
                [](Exact x) { return 1 / (1 + std::exp(-x)); });
}

TEST(VectorMath, SinCosAndTan) {
  std::vector<float> boundaries = multiples(kHalfPi / 2, 2000);
  for (int i = 0; i < 50; ++i) {
    boundaries.push_back(static_cast<float>(kHalfPi * (1 << 21) + kHalfPi * i * 10007));
  }
  boundaries.push_back(0x1p22F);
  const std::vector<float> values = samples(boundaries);
  using Loop = void (*)(int64_t, float*, const float*);
  const auto results_of_loop = [&](Loop loop) { return results_of_array(loop, values); };
  expect_within(math::kSinUlp, "sin", values, results_of_loop(math::sin), [](Exact x) { return std::sin(x); });
  expect_within(math::kCosUlp, "cos", values, results_of_loop(math::cos), [](Exact x) { return std::cos(x); });
  expect_within(math::kTanUlp, "tan", values, results_of_loop(math::tan), [](Exact x) { return std::tan(x); });
}

TEST(VectorMath, SinAndCosInPlace) {
  // Mixes large angles with small ones.
  std::vector<float> values(200, 0.5F);
  values[0] = -0.7F;
  values[20] = 1e30F;
  std::vector<float> sines = values;
  math::sin(static_cast<int64_t>(sines.size()), sines.data(), sines.data());
  std::vector<float> cosines = values;
  math::cos(static_cast<int64_t>(cosines.size()), cosines.data(), cosines.data());
  std::vector<float> expected_sines(values.size());
  math::sin(static_cast<int64_t>(values.size()), expected_sines.data(), values.data());
  std::vector<float> expected_cosines(values.size());
  math::cos(static_cast<int64_t>(values.size()), expected_cosines.data(), values.data());
  for (size_t i = 0; i < values.size(); ++i) {
    expect(sines[i] == expected_sines[i], "sin in place", values[i]);
    expect(cosines[i] == expected_cosines[i], "cos in place", values[i]);
  }
}

/// Pairs of arguments.
struct Pairs {
  std::vector<float> first;
  std::vector<float> second;

  void add(float x, float y) {
    first.push_back(x);
    second.push_back(y);
  }
};

template <typename Function>
void expect_pairs_within(double bound, const char* name, const Pairs& pairs, const Function& function,
                         const std::function<Exact(Exact, Exact)>& exact_function) {
  const float* const x = pairs.first.data();
  const float* const y = pairs.second.data();
  const Results results =
      results_of_loops(pairs.first.size(), [=](int64_t i) KERNELS_ALWAYS_INLINE { return function(x[i], y[i]); });
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < pairs.first.size(); ++i) {
    const Exact exact = exact_function(x[i], y[i]);
    for (const float result : {results.wide[i], results.narrow[i]}) {
      const double error = error_in_ulp(result, exact);
      if (!(error <= worst)) {
        worst = error;
        at = i;
      }
      expect(exact != 0 || std::signbit(exact) == std::signbit(result), "the sign of a zero", x[i], y[i]);
    }
  }
  expect_at_most(worst, bound, name, x[at], y[at]);
}

void expect_pow_within(double bound, const Pairs& arguments) {
  expect_pairs_within(
      bound, "pow", arguments, [](float x, float y) KERNELS_ALWAYS_INLINE { return math::pow(x, y); },
      [](Exact x, Exact y) { return std::pow(x, y); });
}

void expect_atan2_within(double bound, const Pairs& arguments) {
  expect_pairs_within(
      bound, "atan2", arguments, [](float y, float x) KERNELS_ALWAYS_INLINE { return math::atan2(y, x); },
      [](Exact y, Exact x) { return std::atan2(y, x); });
}

TEST(VectorMath, Pow) {
  std::mt19937 random;
  Pairs arguments;
  // Any base, with exponents for results between 0 and infinity, or slightly out of this range.
  std::uniform_real_distribution<double> result_exponents(-152, 130);
  for (const float base : samples({std::sqrt(0.5F), std::sqrt(2.0F), 1, 1.01F, 10})) {
    const double exponent = result_exponents(random) / std::log2(std::abs(static_cast<double>(base)));
    arguments.add(base, static_cast<float>(exponent));
    arguments.add(base, static_cast<float>(std::nearbyint(exponent)));
  }
  // Any base and any exponent.
  for (int i = 0; i < 200'000; ++i) {
    const uint32_t base = static_cast<uint32_t>(random());
    arguments.add(float_of(base), float_of(static_cast<uint32_t>(random())));
  }
  expect_pow_within(math::kPowUlp, arguments);
}

TEST(VectorMath, FmodIsExact) {
  std::mt19937 random;
  Pairs arguments;
  std::uniform_real_distribution<float> ratios(-1e6F, 1e6F);
  const auto add = [&](float x, float y) {
    if (math::is_near_multiple(x, y)) {
      arguments.add(x, y);
    }
  };
  for (const float y : samples({1, 3})) {
    add(float_of(static_cast<uint32_t>(random())), y);
    add(y * ratios(random), y);
    add(y * std::nearbyint(ratios(random)), y);
    add(std::nextafter(y * std::nearbyint(ratios(random)), 0), y);
  }
  EXPECT_TRUE(arguments.first.size() > samples({}).size()) << "few are near";
  for (const auto& [x, y] : {std::pair{1.0F, 0.0F}, {Limits::infinity(), 1.0F}, {1.0F, Limits::infinity()}}) {
    expect(!math::is_near_multiple(x, y), "is near", x, y);
  }
  expect_pairs_within(
      0, "fmod", arguments, [](float x, float y) KERNELS_ALWAYS_INLINE { return math::fmod_of_near(x, y); },
      [](Exact x, Exact y) { return std::fmod(x, y); });
}

TEST(VectorMath, Atan2) {
  std::mt19937 random;
  Pairs arguments;
  std::uniform_real_distribution<float> ratios(-3, 3);
  for (const float x : samples({1})) {
    arguments.add(x, float_of(static_cast<uint32_t>(random())));
    arguments.add(x * ratios(random), x);
  }
  expect_atan2_within(math::kAtan2Ulp, arguments);
}

TEST(VectorMath, PowAndAtan2OfSpecialValues) {
  std::vector<float> values;
  for (const float value : {0.0F,
                            Limits::denorm_min(),
                            Limits::min(),
                            0.3F,
                            0.5F,
                            0x1.fffffep-1F,
                            1.0F,
                            0x1.000002p0F,
                            1.5F,
                            2.0F,
                            3.0F,
                            0x1p23F - 0.5F,
                            0x1p23F + 1,
                            0x1p24F - 1,
                            0x1p24F,
                            0x1p31F,
                            0x1p33F,
                            0x1p62F,
                            Limits::max(),
                            Limits::infinity(),
                            Limits::quiet_NaN()}) {
    values.push_back(value);
    values.push_back(-value);
  }
  Pairs arguments;
  for (const float first : values) {
    for (const float second : values) {
      arguments.add(first, second);
    }
  }
  expect_pow_within(math::kPowUlp, arguments);
  expect_atan2_within(math::kAtan2Ulp, arguments);
}

}  // namespace
}  // namespace rules_executorch::kernels
