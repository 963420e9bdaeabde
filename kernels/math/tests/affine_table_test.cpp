// Compares lines with the tables that they stand for, for random changes of scale.

#include "kernels/math/affine_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace rules_executorch::kernels {
namespace {

struct Range {
  int least;
  int most;
};

Range range_of(bool is_signed) { return is_signed ? Range{-128, 127} : Range{0, 255}; }

/// The table of a function of all bytes.
std::vector<uint8_t> table_of(bool is_signed, const std::function<double(int)>& function) {
  const Range range = range_of(is_signed);
  std::vector<uint8_t> table(256);
  for (int x = range.least; x <= range.most; ++x) {
    const double result = std::clamp<double>(std::nearbyint(function(x)), range.least, range.most);
    table[static_cast<uint8_t>(x)] = static_cast<uint8_t>(static_cast<int>(result));
  }
  return table;
}

void expect_results(const AffineTable& line, const std::vector<uint8_t>& table, int first, int last) {
  for (int x = first; x <= last; ++x) {
    const float y = static_cast<float>(x) * line.scale + line.offset;
    const float result = std::clamp(std::nearbyint(y), line.min, line.max);
    ASSERT_EQ(static_cast<uint8_t>(static_cast<int>(result)), table[static_cast<uint8_t>(x)]) << x;
  }
}

TEST(AffineTable, ChangesOfScale) {
  std::mt19937 random;
  std::uniform_real_distribution<double> uniform(0, 1);
  int found = 0;
  constexpr int kCount = 20000;
  for (int i = 0; i < kCount; ++i) {
    const bool is_signed = i % 2 == 0;
    const Range range = range_of(is_signed);
    const double scale = std::exp2(uniform(random) * 10 - 5);
    const auto any = [&] { return range.least + std::floor(uniform(random) * 256); };
    const double from_zero = any();
    const double to_zero = any();
    // Half of the tables have the clamp of an activation. Some conversions have a narrow range.
    const double low = i % 4 < 2 ? to_zero : range.least;
    const double high = low + 255 * uniform(random);
    const auto table = table_of(
        is_signed, [&](int x) { return std::clamp((x - from_zero) * scale + to_zero, low, std::max(low, high)); });
    const int first = i % 3 == 0 ? static_cast<int>(any()) : range.least;
    const int last = i % 5 == 0 ? std::max(first, static_cast<int>(any())) : range.most;
    AffineTable line;
    if (find_affine(table.data(), is_signed, first, last, line)) {
      ++found;
      EXPECT_GE(line.scale, 0);
      expect_results(line, table, first, last);
    }
  }
  // A line through the middle of two integers is not found.
  EXPECT_GT(found, kCount * 9 / 10);
}

TEST(AffineTable, TablesWithoutLine) {
  std::mt19937 random;
  const std::vector<std::function<double(int)>> functions = {
      [](int x) { return 127 * std::tanh(x / 40.0); },
      [](int x) { return std::max(0.1 * x, 1.0 * x); },
      [](int x) { return -x; },
      [](int x) { return std::abs(x); },
      [](int x) { return x + (x == 40); },
      [&random](int) { return static_cast<double>(random() % 256) - 128; },
  };
  for (const auto& function : functions) {
    AffineTable line;
    EXPECT_FALSE(find_affine(table_of(true, function).data(), true, -128, 127, line));
  }
}

TEST(AffineTable, OneResult) {
  AffineTable line;
  const auto table = table_of(false, [](int) { return 200; });
  ASSERT_TRUE(find_affine(table.data(), false, 0, 255, line));
  expect_results(line, table, 0, 255);
  ASSERT_TRUE(find_affine(table_of(false, [](int x) { return x; }).data(), false, 7, 7, line));
  EXPECT_EQ(line.min, 7);
  EXPECT_EQ(line.max, 7);
}

}  // namespace
}  // namespace rules_executorch::kernels
