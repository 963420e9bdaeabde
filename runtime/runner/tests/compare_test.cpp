#include "runtime/runner/compare.h"

#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace rules_executorch {
namespace {

using executorch::aten::BFloat16;
using executorch::aten::Half;
using executorch::aten::ScalarType;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Tolerance kByDtype = {};

template <typename T>
Value Tensor(ScalarType dtype, const std::vector<double>& numbers) {
  TensorData tensor{ContiguousLayout(dtype, {static_cast<int32_t>(numbers.size())}), {}};
  for (const double number : numbers) {
    const T element = static_cast<T>(number);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&element);
    tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + sizeof(T));
  }
  return tensor;
}

Value Float(const std::vector<double>& numbers) { return Tensor<float>(ScalarType::Float, numbers); }

// A 16-bit tensor whose elements have these bits.
Value Bits(ScalarType dtype, const std::vector<uint16_t>& elements) {
  TensorData tensor{ContiguousLayout(dtype, {static_cast<int32_t>(elements.size())}), {}};
  tensor.bytes.resize(2 * elements.size());
  std::memcpy(tensor.bytes.data(), elements.data(), tensor.bytes.size());
  return tensor;
}

bool IsClose(const Value& expected, const Value& actual, const Tolerance& tolerance = kByDtype) {
  return Compare(expected, actual, tolerance).close;
}

// 1, 2, ..., 16.
std::vector<double> Steps() {
  std::vector<double> steps;
  for (int i = 1; i <= 16; ++i) {
    steps.push_back(i);
  }
  return steps;
}

TEST(CompareTest, TableHasTheFloatingPointDtypes) {
  for (int i = 0; i < static_cast<int>(ScalarType::NumOptions); ++i) {
    const auto dtype = static_cast<ScalarType>(i);
    EXPECT_EQ(FindTolerance(dtype) != nullptr, IsFloatingPoint(dtype)) << DtypeName(dtype);
  }
}

TEST(CompareTest, OneUnitInTheLastPlace) {
  // All positive numbers of 16 bits below infinity: the one with the next bits is one unit larger.
  for (const ScalarType dtype : {ScalarType::Half, ScalarType::BFloat16}) {
    const uint16_t infinity = dtype == ScalarType::Half ? 0x7c00 : 0x7f80;
    for (uint16_t bits = 1; bits + 1 < infinity; ++bits) {
      ASSERT_TRUE(IsClose(Bits(dtype, {bits}), Bits(dtype, {static_cast<uint16_t>(bits + 1)}))) << bits;
    }
    const Tolerance former = {1e-5, 1e-5};
    const uint16_t one = dtype == ScalarType::Half ? 0x3c00 : 0x3f80;
    EXPECT_FALSE(IsClose(Bits(dtype, {one}), Bits(dtype, {static_cast<uint16_t>(one + 1)}), former));
  }
}

TEST(CompareTest, LargerRoundingErrors) {
  const Tolerance wide = {{}, {}, 0, 4};
  for (const double size : {1.0, 1000.0}) {
    for (const double differs : {0.9, 1.1, 3.9, 4.1}) {
      const double allowed = 1e-5 + size * (1.3e-6 + 1e-4);
      const Value expected = Float({size, size}), actual = Float({size, size + differs * allowed});
      EXPECT_EQ(IsClose(expected, actual), differs < 1) << size << " " << differs;
      EXPECT_EQ(IsClose(expected, actual, wide), differs < 4) << size << " " << differs;
      EXPECT_FALSE(IsClose(expected, actual, {1e-6, 1e-6, 0, 4})) << "a given tolerance stays";
    }
  }
  // All elements differ by 0.02% of their size, but none by more than a fraction of the largest: 74 dB - 20 log10(...).
  std::vector<double> expected(100, 1.0), actual(100, 1.002);
  expected[0] = actual[0] = 100;
  EXPECT_EQ(Compare(Float(expected), Float(actual), wide).mismatches, 0u);
  EXPECT_TRUE(IsClose(Float(expected), Float(actual), wide));
  for (const double growth : {4.0, 1000.0}) {
    const Tolerance any = {{}, {}, 0, growth};
    EXPECT_FALSE(IsClose(Tensor<Half>(ScalarType::Half, {1}), Tensor<Half>(ScalarType::Half, {1.02}), any));
  }
  EXPECT_DOUBLE_EQ(Widen(*FindTolerance(ScalarType::Float), 10).least_snr, 40);
}

TEST(CompareTest, LongSumsDifferByAFractionOfTheLargest) {
  std::vector<double> expected = Steps();
  expected[5] = 129;
  std::vector<double> actual = expected;
  actual[0] += 0.010;
  EXPECT_TRUE(IsClose(Float(expected), Float(actual)));
  EXPECT_FALSE(IsClose(Float(expected), Float(actual), {1e-5, 1e-5}));
  actual[0] = expected[0] + 0.129;  // a thousandth of the largest
  const Comparison comparison = Compare(Float(expected), Float(actual), kByDtype);
  EXPECT_FALSE(comparison.close);
  EXPECT_EQ(comparison.mismatches, 1);
  EXPECT_EQ(comparison.first_mismatch, 0);
  EXPECT_GE(comparison.snr, 60);
}

TEST(CompareTest, PermutedElementsDiffer) {
  const std::vector<double> expected = Steps();
  const std::vector<double> actual(expected.rbegin(), expected.rend());
  EXPECT_FALSE(IsClose(Float(expected), Float(actual)));
  EXPECT_FALSE(IsClose(Tensor<Half>(ScalarType::Half, expected), Tensor<Half>(ScalarType::Half, actual)));
  EXPECT_FALSE(
      IsClose(Tensor<BFloat16>(ScalarType::BFloat16, expected), Tensor<BFloat16>(ScalarType::BFloat16, actual)));
}

TEST(CompareTest, SmallElementsBesideALargeOneDifferByTheirRatio) {
  // Each of the 400 elements may be 1000 / 10^4 away. Together, 10 log10((10^6 + 400) / (400 * 0.09^2)) = 54.9.
  std::vector<double> expected(401, 1), actual(401, 1.09);
  expected[0] = actual[0] = 1000;
  const Comparison comparison = Compare(Float(expected), Float(actual), kByDtype);
  EXPECT_FALSE(comparison.close);
  EXPECT_EQ(comparison.mismatches, 0);
  EXPECT_NEAR(comparison.snr, 54.9, 0.05);
}

// 48 numbers around 10.
std::vector<double> Logits() {
  std::vector<double> logits;
  for (int i = 0; i < 48; ++i) {
    logits.push_back(8 + i * 5 % 48 / 12.0);
  }
  return logits;
}

// With every third number replaced, as by a mask.
std::vector<double> Masked(std::vector<double> numbers, double fill) {
  for (size_t i = 0; i < numbers.size(); i += 3) {
    numbers[i] = fill;
  }
  return numbers;
}

std::vector<double> Reversed(const std::vector<double>& numbers) { return {numbers.rbegin(), numbers.rend()}; }

// With a factor of 1 + epsilon or 1 - epsilon, in turns.
std::vector<double> WithNoise(std::vector<double> numbers, double epsilon) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] *= i % 2 == 0 ? 1 + epsilon : 1 - epsilon;
  }
  return numbers;
}

TEST(CompareTest, MasksDoNotHideWrongNumbers) {
  const std::vector<double> logits = Logits();
  for (const double fill : {-1e9, static_cast<double>(std::numeric_limits<float>::lowest()), -kInfinity}) {
    const Value expected = Float(Masked(logits, fill));
    EXPECT_TRUE(IsClose(expected, Float(Masked(WithNoise(logits, 1e-6), fill)))) << fill;
    const Comparison permuted = Compare(expected, Float(Masked(Reversed(logits), fill)), kByDtype);
    EXPECT_FALSE(permuted.close) << fill;
    EXPECT_LT(permuted.snr_by_dtype, 20) << fill;
    std::vector<double> one_wrong = Masked(logits, fill);
    one_wrong[4] += 0.1;
    EXPECT_FALSE(IsClose(expected, Float(one_wrong))) << fill;
    EXPECT_FALSE(IsClose(expected, Float(Masked(logits, 0)))) << fill;
  }
  EXPECT_TRUE(IsClose(Float(Masked(logits, -1e9)), Float(Masked(logits, -1e9 - 64))));
  EXPECT_FALSE(IsClose(Float(Masked(logits, -1e9)), Float(Masked(logits, -1.001e9))));
}

TEST(CompareTest, MasksOfTheOtherDtypes) {
  const std::vector<double> logits = Logits(), wrong = Reversed(logits);
  const auto half = [](const std::vector<double>& numbers) { return Tensor<Half>(ScalarType::Half, numbers); };
  EXPECT_TRUE(IsClose(half(Masked(logits, -65504)), half(Masked(WithNoise(logits, 1e-3), -65504))));
  EXPECT_FALSE(IsClose(half(Masked(logits, -65504)), half(Masked(wrong, -65504))));
  const auto bfloat16 = [](const std::vector<double>& numbers) {
    return Tensor<BFloat16>(ScalarType::BFloat16, numbers);
  };
  EXPECT_TRUE(IsClose(bfloat16(Masked(logits, -1e9)), bfloat16(Masked(WithNoise(logits, 8e-3), -1e9))));
  EXPECT_FALSE(IsClose(bfloat16(Masked(logits, -1e9)), bfloat16(Masked(wrong, -1e9))));
  const auto float64 = [](const std::vector<double>& numbers) { return Tensor<double>(ScalarType::Double, numbers); };
  const double lowest = std::numeric_limits<double>::lowest();
  EXPECT_TRUE(IsClose(float64(Masked(logits, lowest)), float64(Masked(WithNoise(logits, 1e-6), lowest))));
  EXPECT_FALSE(IsClose(float64(Masked(logits, lowest)), float64(Masked(wrong, lowest))));
}

TEST(CompareTest, TheRatioLeavesOutOutliersThatAreClose) {
  // Each element may be 0.1 away, as 1000 is no outlier. Without 10^9, the ratio is that of the other elements.
  std::vector<double> expected(402, 1), actual(402, 1.09);
  expected[0] = actual[0] = 1000;
  expected[1] = 1e9;
  actual[1] = 1e9 + 64;
  const Comparison comparison = Compare(Float(expected), Float(actual), kByDtype);
  EXPECT_FALSE(comparison.close);
  EXPECT_EQ(comparison.mismatches, 0);
  EXPECT_NEAR(comparison.snr_by_dtype, 54.9, 0.05);
  // 10 log10(10^18 / 64^2).
  EXPECT_NEAR(comparison.snr, 143.9, 0.05);
  EXPECT_EQ(comparison.max_difference, 64);
  // A least SNR is for all elements.
  const Comparison as_a_whole = Compare(Float(expected), Float(actual), {{}, {}, 143});
  EXPECT_TRUE(as_a_whole.close);
  EXPECT_EQ(as_a_whole.snr, comparison.snr);
  EXPECT_EQ(as_a_whole.snr_by_dtype, as_a_whole.snr);
  // An outlier that differs counts.
  actual[1] = 1.1e9;
  EXPECT_NEAR(Compare(Float(expected), Float(actual), kByDtype).snr_by_dtype, 20, 0.05);
}

TEST(CompareTest, SparseOutputs) {
  // Few large numbers among tiny ones, and zeros, with the noise of float32.
  for (const double tiny : {0.0, 1e-30, 1e-6, 1e-3, 0.5}) {
    for (const double large : {2.0, 1e3, 1e9}) {
      std::vector<double> expected(100, tiny);
      expected[3] = 0;
      expected[40] = large;
      expected[41] = -large / 3;
      EXPECT_TRUE(IsClose(Float(expected), Float(WithNoise(expected, 1e-6)))) << tiny << " " << large;
      std::vector<double> wrong = expected;
      wrong[40] *= 1.001;
      EXPECT_FALSE(IsClose(Float(expected), Float(wrong))) << tiny << " " << large;
      wrong = expected;
      wrong[50] += 0.06;
      wrong[51] -= 0.06;
      EXPECT_EQ(IsClose(Float(expected), Float(wrong)), tiny == 0 && large > 600) << tiny << " " << large;
    }
  }
  // The tiny numbers differ by less than the absolute tolerance, the outlier by more.
  std::vector<double> expected(100, 1e-6), actual(100, 3e-6);
  expected[0] = 1000;
  actual[0] = 1000.01;
  EXPECT_TRUE(IsClose(Float(expected), Float(actual)));
}

TEST(CompareTest, TheLowerMedianDecides) {
  // The elements that are not zero are 1, 1, 2000, 2000: the median is 1, and an element may be 0.1 away.
  const std::vector<double> expected = {1, 0, 2000, 0, kNan, 1, kInfinity, 2000};
  std::vector<double> actual = expected;
  actual[1] = 0.05;
  EXPECT_EQ(Compare(Float(expected), Float(actual), kByDtype).mismatches, 0);
  actual[1] = 0.15;
  EXPECT_EQ(Compare(Float(expected), Float(actual), kByDtype).mismatches, 1);
  // With three of 2000, an element may be 0.2 away.
  std::vector<double> more = expected;
  more[3] = actual[3] = 2000;
  EXPECT_EQ(Compare(Float(more), Float(actual), kByDtype).mismatches, 0);
}

TEST(CompareTest, NoiseBelowTheAbsoluteToleranceHasAnyRatio) {
  const std::vector<double> zeros(16, 0), noise(16, 1e-8);
  EXPECT_EQ(Compare(Float(zeros), Float(noise), kByDtype).snr, -kInfinity);
  EXPECT_TRUE(IsClose(Float(zeros), Float(noise)));
  EXPECT_TRUE(IsClose(Float(noise), Float(zeros)));
  EXPECT_FALSE(IsClose(Float(zeros), Float(std::vector<double>(16, 1e-4))));
}

TEST(CompareTest, NumbersThatAreNotFinite) {
  const Value expected = Float({kNan, kInfinity, -kInfinity, 1});
  EXPECT_TRUE(IsClose(expected, Float({kNan, kInfinity, -kInfinity, 1.00005})));
  EXPECT_FALSE(IsClose(expected, Float({kNan, kInfinity, -kInfinity, 1.001})));
  EXPECT_FALSE(IsClose(expected, Float({0, kInfinity, -kInfinity, 1})));
  EXPECT_FALSE(IsClose(expected, Float({kNan, -kInfinity, -kInfinity, 1})));
  EXPECT_FALSE(IsClose(expected, Float({kNan, 1e38, -kInfinity, 1})));
  EXPECT_FALSE(IsClose(expected, Float({kNan, kInfinity, -kInfinity, kNan})));
}

TEST(CompareTest, Doubles) {
  const auto tensor = [](double number) { return Tensor<double>(ScalarType::Double, {number, 1}); };
  // As in float32, in which the numbers may have been computed.
  EXPECT_TRUE(IsClose(tensor(1), tensor(1 + 0.9e-4)));
  EXPECT_FALSE(IsClose(tensor(1), tensor(1 + 1.1e-4)));
}

TEST(CompareTest, IntegersAndBoolsAreEqual) {
  const auto tensor = [](double number) { return Tensor<int64_t>(ScalarType::Long, {number, 1e15}); };
  EXPECT_TRUE(IsClose(tensor(1), tensor(1)));
  EXPECT_FALSE(IsClose(tensor(1), tensor(2)));
  EXPECT_FALSE(IsClose(Tensor<bool>(ScalarType::Bool, {1}), Tensor<bool>(ScalarType::Bool, {0}), {1, 1}));
}

TEST(CompareTest, GivenTolerances) {
  const Value expected = Float({100, 1}), far = Float({100.5, 1});
  EXPECT_TRUE(IsClose(expected, far, {0, 0.5}));
  EXPECT_FALSE(IsClose(expected, far, {0, 0.4}));
  EXPECT_TRUE(IsClose(expected, far, {0.005, 0}));
  // An SNR of 46 dB, which is not asked for.
  EXPECT_LT(Compare(expected, far, {0, 1}).snr, 60);
  EXPECT_TRUE(IsClose(expected, far, {0, 0, 46}));
  EXPECT_FALSE(IsClose(expected, far, {1, 1, 47}));
}

TEST(CompareTest, TheToleranceThatIsNotGiven) {
  Tolerance absolute, relative;
  absolute.absolute = 0;
  relative.relative = 0;
  EXPECT_TRUE(IsClose(Float({100}), Float({100.0009}), absolute));
  EXPECT_FALSE(IsClose(Float({100}), Float({100.0011}), absolute));
  EXPECT_TRUE(IsClose(Float({0}), Float({0.9e-5}), relative));
  EXPECT_FALSE(IsClose(Float({0}), Float({1.1e-5}), relative));
}

TEST(CompareTest, OtherDtypesShapesAndNone) {
  EXPECT_FALSE(Compare(Float({1}), Tensor<Half>(ScalarType::Half, {1}), kByDtype).comparable);
  EXPECT_FALSE(Compare(Float({1}), Float({1, 1}), kByDtype).comparable);
  EXPECT_FALSE(Compare(Float({1}), std::nullopt, kByDtype).comparable);
  EXPECT_TRUE(IsClose(std::nullopt, std::nullopt));
  EXPECT_TRUE(IsClose(Float({}), Float({})));
  EXPECT_TRUE(IsClose(Float({0, -0.0}), Float({0, 0})));
}

TEST(CompareTest, DimOrderIsIgnored) {
  TensorData expected = *Float({1, 2, 3, 4, 5, 6});
  expected.layout = ContiguousLayout(ScalarType::Float, {2, 3});
  const TensorData transposed = WithDimOrder(expected, {1, 0});
  EXPECT_TRUE(IsClose(expected, transposed));
  EXPECT_FALSE(IsClose(expected, TensorData{transposed.layout, expected.bytes}));
}

}  // namespace
}  // namespace rules_executorch
