#include "kernels/quantize/quantization.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/reduce/min_max.h"
#include "kernels/testing/tensors.h"

namespace rules_executorch::kernels {
namespace {

using testing::OwnedTensor;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(QuantizedRangeTest, ClampsToItsEnds) {
  const QuantizedRange<float> range(-128, 127);
  EXPECT_EQ(range.clamp(-kInfinity), -128);
  EXPECT_EQ(range.clamp(3), 3);
  EXPECT_EQ(range.clamp(kInfinity), 127);
  EXPECT_EQ(range.clamp(kNaN), -128);
}

TEST(QuantizedRangeTest, AnEndThatFloatDoesNotHaveIsTheNextOneInside) {
  const int64_t limit = int64_t{1} << 31;
  EXPECT_EQ(QuantizedRange<float>(-limit, limit - 1).clamp(kInfinity), static_cast<float>(limit - 128));
  EXPECT_EQ(QuantizedRange<float>(-limit + 1, 0).clamp(-kInfinity), static_cast<float>(-limit + 128));
  EXPECT_EQ(QuantizedRange<double>(-limit, limit - 1).clamp(kInfinity), static_cast<double>(limit - 1));
}

TEST(QuantizedRangeTest, OfTwoEndsInTheWrongOrderTheLastCounts) { EXPECT_EQ(QuantizedRange<float>(9, 5).clamp(7), 5); }

template <typename T>
void test_integers(int32_t least, int32_t largest) {
  for (const int size : {0, 1, 15, 16, 300, 1000}) {
    OwnedTensor<float> in({size});
    OwnedTensor<T> out({size});
    for (int i = 0; i < size; ++i) {
      in.data()[i] = static_cast<float>(i % 2 == 0 ? largest - i % 7 : least + i % 7);
    }
    elementwise_integers<float>([](float x) { return x; }, out.tensor(), in.tensor());
    for (int i = 0; i < size; ++i) {
      EXPECT_EQ(static_cast<float>(out.data()[i]), in.data()[i]);
    }
  }
}

TEST(ElementwiseIntegersTest, EveryDtypeHasItsIntegers) {
  test_integers<uint8_t>(0, 255);
  test_integers<int8_t>(-128, 127);
  test_integers<int16_t>(-32768, 32767);
  test_integers<int32_t>(-(1 << 24), 1 << 24);
  test_integers<int64_t>(-(1 << 24), 1 << 24);
}

TEST(MinMaxTest, OfElementsInPlaceAndApart) {
  for (const int64_t n : {1, 2, 17, 255, 256, 257, 1000}) {
    for (const int64_t step : {1, 3}) {
      std::vector<float> values(n * step, 1000);
      for (int64_t i = 0; i < n; ++i) {
        values[i * step] = static_cast<float>(i * 37 % 101) - 50;
      }
      const char* const data = reinterpret_cast<const char*>(values.data());
      float least = values[0];
      float largest = values[0];
      for (int64_t i = 0; i < n; ++i) {
        least = std::min(least, values[i * step]);
        largest = std::max(largest, values[i * step]);
      }
      const MinMax<float> extent = min_max<float>(ScalarType::Float, data, step * sizeof(float), n);
      EXPECT_EQ(extent.min, least);
      EXPECT_EQ(extent.max, largest);
      values[(n - 1) * step] = kNaN;
      const MinMax<float> unknown = min_max<float>(ScalarType::Float, data, step * sizeof(float), n);
      EXPECT_NE(unknown.min, unknown.min);
      EXPECT_NE(unknown.max, unknown.max);
    }
  }
}

}  // namespace
}  // namespace rules_executorch::kernels
