// Judges vector_math.h by long double (or double, where that is all there is): the errors are those that the header
// states, at every exponent of a float and at the values where functions change their ways.

#include "kernels/common/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "kernels/common/vectorize.h"

namespace rules_executorch::kernels {
namespace {

using Exact = long double;
using Limits = std::numeric_limits<float>;

constexpr int kMantissas = 1000;  // of each exponent and sign

void expect(bool condition, const char* what, double x, double y = 0) {
  EXPECT_TRUE(condition) << what << ", at " << x << ", " << y;
}

/// Prints the largest error.
void expect_at_most(double worst, double bound, const char* function, double x, double y = 0) {
  std::printf("%s: %.3f ulp, at most %.3f\n", function, worst, bound);
  expect(worst <= bound, function, x, y);
}

/// The distance of a float from the exact result, in units in the last place of the latter. Infinity counts as the
/// number that would follow the largest float.
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

/// What a loop of `function` calculates.
template <typename Function>
std::vector<float> results_of(const Function& function, const std::vector<float>& values) {
  std::vector<float> results(values.size());
  const float* const in = values.data();
  float* const out = results.data();
  vectorized_for(static_cast<int64_t>(values.size()),
                 [=](int64_t i) KERNELS_ALWAYS_INLINE { out[i] = function(in[i]); });
  return results;
}

void expect_within(double bound, const char* function, const std::vector<float>& values,
                   const std::vector<float>& results, const std::function<Exact(Exact)>& exact) {
  double worst = 0;
  float worst_value = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const Exact expected = exact(values[i]);
    const double error = error_in_ulp(results[i], expected);
    if (!(error <= worst)) {
      worst = error;
      worst_value = values[i];
    }
    expect(expected != 0 || std::signbit(results[i]) == std::signbit(expected), "the sign of a zero", values[i]);
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

TEST(VectorMath, Exp) {
  std::vector<float> boundaries = multiples(std::log(Exact(2)) / 2, 300);
  boundaries.insert(boundaries.end(), {87.33654F, 88.72284F, 89, 103.27893F, 103.97208F, 104});
  const std::vector<float> values = samples(boundaries);
  expect_within(math::kExpUlp, "exp", values, results_of([](float x) { return math::exp(x); }, values),
                [](Exact x) { return std::exp(x); });
}

TEST(VectorMath, Log) {
  const std::vector<float> values = samples({std::sqrt(0.5F), std::sqrt(2.0F), 1, Limits::min(), Limits::max()});
  expect_within(math::kLogUlp, "log", values, results_of([](float x) { return math::log(x); }, values),
                [](Exact x) { return std::log(x); });
}

TEST(VectorMath, Tanh) {
  const std::vector<float> values = samples({0.625F, 9.010913F, 10});
  expect_within(math::kTanhUlp, "tanh", values, results_of([](float x) { return math::tanh(x); }, values),
                [](Exact x) { return std::tanh(x); });
}

TEST(VectorMath, Erf) {
  const std::vector<float> values = samples({0.9F, 3.919206F, 4});
  expect_within(math::kErfUlp, "erf", values, results_of([](float x) { return math::erf(x); }, values),
                [](Exact x) { return std::erf(x); });
}

TEST(VectorMath, Sigmoid) {
  const std::vector<float> values = samples({17, 87.33654F, 88.72284F, 103.97208F, 104});
  expect_within(math::kSigmoidUlp, "sigmoid", values, results_of([](float x) { return math::sigmoid(x); }, values),
                [](Exact x) { return 1 / (1 + std::exp(-x)); });
}

TEST(VectorMath, SinAndCos) {
  std::vector<float> boundaries = multiples(kHalfPi / 2, 2000);
  for (int i = 0; i < 50; ++i) {
    boundaries.push_back(static_cast<float>(kHalfPi * (1 << 21) + kHalfPi * i * 10007));
  }
  boundaries.push_back(0x1p22F);
  const std::vector<float> values = samples(boundaries);
  std::vector<float> results(values.size());
  math::sin(static_cast<int64_t>(values.size()), results.data(), values.data());
  expect_within(math::kSinUlp, "sin", values, results, [](Exact x) { return std::sin(x); });
  math::cos(static_cast<int64_t>(values.size()), results.data(), values.data());
  expect_within(math::kCosUlp, "cos", values, results, [](Exact x) { return std::cos(x); });
}

TEST(VectorMath, SinAndCosInPlace) {
  // Large angles among small ones.
  std::vector<float> values(50, 0.5F);
  values[20] = 1e30F;
  std::vector<float> sines = values;
  math::sin(static_cast<int64_t>(sines.size()), sines.data(), sines.data());
  std::vector<float> cosines = values;
  math::cos(static_cast<int64_t>(cosines.size()), cosines.data(), cosines.data());
  for (size_t i = 0; i < values.size(); ++i) {
    expect(sines[i] == math::sin(values[i]), "sin in place", values[i]);
    expect(cosines[i] == math::cos(values[i]), "cos in place", values[i]);
  }
}

struct PowArguments {
  std::vector<float> bases;
  std::vector<float> exponents;
};

void expect_pow_within(double bound, const PowArguments& arguments) {
  const int64_t n = static_cast<int64_t>(arguments.bases.size());
  std::vector<float> results(arguments.bases.size());
  const float* const base = arguments.bases.data();
  const float* const exponent = arguments.exponents.data();
  float* const out = results.data();
  vectorized_for(n, [=](int64_t i) KERNELS_ALWAYS_INLINE { out[i] = math::pow(base[i], exponent[i]); });
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const Exact exact = std::pow(Exact(base[i]), Exact(exponent[i]));
    const double error = error_in_ulp(results[i], exact);
    if (!(error <= worst)) {
      worst = error;
      at = i;
    }
    expect(exact != 0 || std::signbit(exact) == std::signbit(results[i]), "the sign of a zero", base[i], exponent[i]);
  }
  expect_at_most(worst, bound, "pow", base[at], exponent[at]);
}

TEST(VectorMath, Pow) {
  std::mt19937 random;
  PowArguments arguments;
  const auto add = [&](float base, float exponent) {
    arguments.bases.push_back(base);
    arguments.exponents.push_back(exponent);
  };
  // Any base, and an exponent that gives a result between 0 and infinity, or a little beyond.
  std::uniform_real_distribution<double> result_exponents(-152, 130);
  for (const float base : samples({std::sqrt(0.5F), std::sqrt(2.0F), 1, 1.01F, 10})) {
    const double exponent = result_exponents(random) / std::log2(std::abs(static_cast<double>(base)));
    add(base, static_cast<float>(exponent));
    add(base, static_cast<float>(std::nearbyint(exponent)));
  }
  // Any base and any exponent.
  for (int i = 0; i < 200'000; ++i) {
    const uint32_t base = static_cast<uint32_t>(random());
    add(float_of(base), float_of(static_cast<uint32_t>(random())));
  }
  expect_pow_within(math::kPowUlp, arguments);
}

TEST(VectorMath, PowOfSpecialValues) {
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
  PowArguments arguments;
  for (const float base : values) {
    for (const float exponent : values) {
      arguments.bases.push_back(base);
      arguments.exponents.push_back(exponent);
    }
  }
  expect_pow_within(math::kPowUlp, arguments);
}

}  // namespace
}  // namespace rules_executorch::kernels
