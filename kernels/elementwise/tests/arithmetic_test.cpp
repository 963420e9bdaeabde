// Tests of select.h, extremes.h, division.h, unary.h, and the rounding functions of vector_math.h.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/elementwise/division.h"
#include "kernels/elementwise/unary.h"
#include "kernels/math/extremes.h"
#include "kernels/math/select.h"
#include "kernels/math/vector_math.h"
#include "kernels/testing/tensors.h"

namespace rules_executorch::kernels {
namespace {

using testing::OwnedTensor;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

TEST(SelectTest, TakesAllBitsOfOne) {
  EXPECT_EQ(select(true, int8_t{-1}, int8_t{0}), -1);
  EXPECT_EQ(select(false, int16_t{-1}, int16_t{1 << 14}), 1 << 14);
  EXPECT_EQ(select(true, INT64_MIN, INT64_MAX), INT64_MIN);
  EXPECT_TRUE(std::signbit(select(true, -0.0f, 1.0f)));
  EXPECT_EQ(select(false, kNan, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(select(true, kNan, kInfinity)));
  EXPECT_TRUE(select(true, true, false));
}

TEST(ExtremesTest, NanIsBoth) {
  EXPECT_EQ(larger(2, 3), 3);
  EXPECT_EQ(smaller(uint8_t{200}, uint8_t{3}), 3);
  for (const double x : {1.0, kInfinity, -kInfinity, kNan}) {
    EXPECT_TRUE(std::isnan(larger(kNan, x)));
    EXPECT_TRUE(std::isnan(larger(x, kNan)));
    EXPECT_TRUE(std::isnan(smaller(kNan, x)));
    EXPECT_TRUE(std::isnan(smaller(x, kNan)));
  }
}

TEST(DivisionTest, IntegersOfEverySign) {
  for (int x = -128; x <= 127; ++x) {
    for (int y = -128; y <= 127; ++y) {
      if (y != 0) {
        const auto a = static_cast<int8_t>(x), b = static_cast<int8_t>(y);
        EXPECT_EQ(divide_trunc(a, b), static_cast<int8_t>(x / y)) << x << " / " << y;
        const int floor = static_cast<int>(std::floor(static_cast<double>(x) / y));
        EXPECT_EQ(divide_floor(a, b), static_cast<int8_t>(floor)) << x << " / " << y;
      }
    }
  }
}

TEST(DivisionTest, TheLeastIntegerWrapsAround) {
  EXPECT_EQ(divide_trunc(INT64_MIN, int64_t{-1}), INT64_MIN);
  EXPECT_EQ(divide_floor(INT64_MIN, int64_t{-1}), INT64_MIN);
  EXPECT_EQ(divide_floor(INT32_MIN, -1), INT32_MIN);
}

TEST(DivisionTest, FloatsByTheExactQuotient) {
  // x / y rounds up to 10. The exact quotient rounded down is 9.
  EXPECT_EQ(divide_floor(1.0, 0.1), 9);
  EXPECT_EQ(divide_floor(-1.0, 0.3), -4);
  EXPECT_EQ(divide_floor(1.0, 0.0), kInfinity);
  EXPECT_TRUE(std::isnan(divide_floor(0.0, 0.0)));
  EXPECT_TRUE(std::signbit(divide_floor(-0.0, 5.0)));
  EXPECT_EQ(divide_trunc(-7.5, 2.0), -3);
}

TEST(DivisionTest, ZerosOfTheDividend) {
  OwnedTensor<double> divisor({3, 200});
  for (int64_t i = 0; i < divisor.numel(); ++i) {
    divisor.data()[i] = 1;
  }
  EXPECT_FALSE(contains_zero(divisor.tensor(), ScalarType::Int));
  divisor.data()[599] = 0.5;  // 0 as an integer
  EXPECT_TRUE(contains_zero(divisor.tensor(), ScalarType::Int));
  OwnedTensor<int> nothing({0, 3});
  EXPECT_FALSE(contains_zero(nothing.tensor(), ScalarType::Int));
}

TEST(RoundingTest, AsTheStandardLibrary) {
  std::vector<double> values = {0.0,       -0.0,   kInfinity, -kInfinity,          kNan,
                                0x1p-1074, 0x1p52, -0x1p52,   0x1.fffffffffffffp51};
  for (int i = -40; i <= 40; ++i) {
    values.insert(values.end(),
                  {i / 4.0, i / 4.0 + 0x1p-40, 0x1p51 + i / 2.0, 0x1p22 + i / 4.0, 0x1p62 + i, i * 0x1p100});
  }
  const auto is_same = [](auto a, auto b) {
    return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
  };
  for (const double x : values) {
    EXPECT_TRUE(is_same(math::rint(x), std::nearbyint(x))) << x;
    EXPECT_TRUE(is_same(math::floor(x), std::floor(x))) << x;
    EXPECT_TRUE(is_same(math::ceil(x), std::ceil(x))) << x;
    EXPECT_TRUE(is_same(math::trunc(x), std::trunc(x))) << x;
    const float y = static_cast<float>(x);
    EXPECT_TRUE(is_same(math::rint(y), std::nearbyint(y))) << y;
    EXPECT_TRUE(is_same(math::floor(y), std::floor(y))) << y;
    EXPECT_TRUE(is_same(math::ceil(y), std::ceil(y))) << y;
    EXPECT_TRUE(is_same(math::trunc(y), std::trunc(y))) << y;
  }
}

Error negate(Tensor& in, Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "negate.out");
  KernelRuntimeContext context;
  unary_out<op_name>(context, in, out, [](auto x) { return static_cast<decltype(x)>(-x); });
  return context.failure_state();
}

TEST(UnaryTest, ComputesEachDtype) {
  OwnedTensor<int8_t> in({2, 3}), out({2, 3});
  for (int8_t i = 0; i < 6; ++i) {
    in.data()[i] = i;
  }
  EXPECT_EQ(negate(in.tensor(), out.tensor()), Error::Ok);
  EXPECT_EQ(out.values(), std::vector<int8_t>({0, -1, -2, -3, -4, -5}));
}

TEST(UnaryTest, Refuses) {
  OwnedTensor<bool> bools({2});
  OwnedTensor<float> floats({2}), three({3});
  OwnedTensor<int> integers({2});
  EXPECT_EQ(negate(bools.tensor(), floats.tensor()), Error::InvalidArgument);
  EXPECT_EQ(negate(floats.tensor(), integers.tensor()), Error::InvalidArgument) << "floats lose their fractions";
  EXPECT_EQ(negate(floats.tensor(), three.tensor()), Error::InvalidArgument) << "another shape, which is static";
}

}  // namespace
}  // namespace rules_executorch::kernels
