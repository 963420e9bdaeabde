#include "kernels/elementwise/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>
#include <vector>

#include "kernels/testing/tensors.h"
#include "kernels/testing/thread_provider.h"
#include "runtime/kernel_api/random_seed.h"

namespace rules_executorch::kernels {
namespace {

using testing::OwnedTensor;

TEST(RandomTest, IsSplitMix64) {
  // The first numbers of the generator's published implementation for the seed 1234567.
  const RandomNumbers numbers(1234567);
  EXPECT_EQ(numbers.bits(0), 6457827717110365317u);
  EXPECT_EQ(numbers.bits(1), 3203168211198807973u);
  EXPECT_EQ(numbers.bits(2), 9817491932198370423u);
}

TEST(RandomTest, NumbersDependOnTheirPositionAlone) {
  const RandomNumbers numbers(1);
  float all[64], part[16];
  numbers.uniform(0, 64, 24, all);
  numbers.uniform(32, 16, 24, part);
  EXPECT_TRUE(std::equal(part, part + 16, all + 32));
  numbers.normal(0, 64, all);
  numbers.normal(32, 15, part);
  EXPECT_TRUE(std::equal(part, part + 15, all + 32));
}

TEST(RandomTest, UniformNumbersAreMultiples) {
  const RandomNumbers numbers(2);
  std::set<double> values;
  for (uint64_t i = 0; i < 1000; ++i) {
    double value;
    numbers.uniform(i, 1, 3, &value);
    EXPECT_LT(value, 1);
    values.insert(value);
  }
  EXPECT_EQ(values, (std::set<double>{0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875}));
}

TEST(RandomTest, DigitsHaveNoSuccessorsToOne) {
  EXPECT_LT(static_cast<float>(Half(1 - std::ldexp(1.0f, -digits_of(ScalarType::Half)))), 1);
  EXPECT_LT(static_cast<float>(BFloat16(1 - std::ldexp(1.0f, -digits_of(ScalarType::BFloat16)))), 1);
  EXPECT_EQ(digits_of(ScalarType::Float), 24);
  EXPECT_EQ(digits_of(ScalarType::Double), 53);
}

TEST(RandomTest, IntegersAreBelowTheEnd) {
  const RandomNumbers numbers(4);
  std::set<uint64_t> values;
  for (uint64_t i = 0; i < 200; ++i) {
    values.insert(numbers.below(i, 5));
    EXPECT_EQ(numbers.below(i, 1), 0u);
    // The upper half of a product with 2^63.
    EXPECT_EQ(numbers.below(i, uint64_t{1} << 63), numbers.bits(i) >> 1);
    EXPECT_EQ(numbers.below(i, uint64_t{1} << 32), numbers.bits(i) >> 32);
  }
  EXPECT_EQ(values, (std::set<uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_LT(numbers.below(0, UINT64_MAX), UINT64_MAX);
}

TEST(RandomTest, OpenIntervalHasNoEnds) {
  const RandomNumbers numbers(5);
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_GT(numbers.between_0_and_1(i), 0);
    EXPECT_LT(numbers.between_0_and_1(i), 1);
  }
}

TEST(RandomTest, SeedDeterminesTheCalls) {
  const auto draw = [](uint64_t seed) {
    set_random_seed(seed);
    std::vector<uint64_t> firsts;
    for (int i = 0; i < 5; ++i) {
      firsts.push_back(RandomNumbers().bits(0));
    }
    return firsts;
  };
  const std::vector<uint64_t> draws = draw(1);
  EXPECT_EQ(draw(1), draws);
  std::set<uint64_t> all(draws.begin(), draws.end());
  for (const uint64_t seed : {uint64_t{0}, uint64_t{2}, uint64_t{1} << 32 | 1}) {
    for (const uint64_t first : draw(seed)) {
      all.insert(first);
    }
  }
  EXPECT_EQ(all.size(), 20u);
}

TEST(RandomTest, ThreadsHaveSeedsOfTheirOwn) {
  constexpr int kThreads = 4, kSeeds = 500;
  std::vector<uint64_t> firsts(kThreads * kSeeds);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&firsts, t] {
      for (int i = 0; i < kSeeds; ++i) {
        firsts[t * kSeeds + i] = RandomNumbers().bits(0);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(std::set<uint64_t>(firsts.begin(), firsts.end()).size(), firsts.size());
}

TEST(RandomTest, WritesAllElementsOnAnyCountOfThreads) {
  OwnedTensor<float> one({100003}), many({100003});
  const RandomNumbers numbers(3);
  const auto write = [&](uint64_t first, int64_t n, float* values) { numbers.uniform(first, n, 24, values); };
  testing::set_thread_count(1);
  write_random<float>(one.tensor(), write);
  testing::set_thread_count(4);
  write_random<float>(many.tensor(), write);
  EXPECT_EQ(one.values(), many.values());
  EXPECT_NE(one.data()[100002], 0);
  OwnedTensor<float> nothing({0, 3});
  write_random<float>(nothing.tensor(), write);
}

}  // namespace
}  // namespace rules_executorch::kernels
