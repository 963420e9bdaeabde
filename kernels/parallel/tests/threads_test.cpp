#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "kernels/copy/copy.h"
#include "kernels/copy/fill.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/reduce/reduction.h"
#include "kernels/tensors/dims.h"
#include "kernels/testing/tensors.h"
#include "kernels/testing/thread_provider.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {
namespace {

using testing::OwnedTensor;
using testing::random_order;
using testing::random_sizes;
using testing::set_thread_count;
using testing::take_part_count;

constexpr int64_t kThreadCounts[] = {1, 2, 3, 7};

/// Calls `compute` with each number of threads, and expects the same bytes of `out` each time.
template <typename T>
void expect_same(OwnedTensor<T>& out, const std::function<void()>& compute) {
  std::vector<T> expected;
  for (int64_t threads : kThreadCounts) {
    set_thread_count(threads);
    std::memset(static_cast<void*>(out.data()), 0x5a, out.numel() * sizeof(T));
    compute();
    if (threads == 1) {
      expected = out.values();
    }
    ASSERT_EQ(std::memcmp(out.data(), expected.data(), out.numel() * sizeof(T)), 0) << threads << " threads";
  }
  set_thread_count(1);
}

/// `sizes`, with some of them replaced by 1, so that the shape broadcasts.
std::vector<int> shrunk(std::vector<int> sizes, std::mt19937& random) {
  for (int& size : sizes) {
    size = random() % 3 == 0 ? 1 : size;
  }
  return sizes;
}

TEST(ThreadsTest, PartsCoverTheRangeOnce) {
  for (int64_t threads : kThreadCounts) {
    set_thread_count(threads);
    std::vector<int> calls(10001);
    parallel_for(1, 10001, 100, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        ++calls[i];
      }
    });
    EXPECT_EQ(calls[0], 0);
    EXPECT_EQ(std::count(calls.begin(), calls.end(), 1), 10000);
    EXPECT_EQ(take_part_count(), threads > 1 ? 4 * threads : 0);
  }
  set_thread_count(1);
}

TEST(ThreadsTest, PartsDifferByOneItemAtMost) {
  set_thread_count(3);
  std::vector<int64_t> sizes(60);
  const auto set_sizes = [&](int64_t begin, int64_t end) {
    std::fill(sizes.begin() + begin, sizes.begin() + end, end - begin);
  };
  parallel_for(0, 16, 14, set_sizes);
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 8), 16);
  parallel_for(0, 60, 0, set_sizes);
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 5), 60);
  EXPECT_EQ(take_part_count(), 12);  // the most of both
  // Each thread has as many parts as others, and about as many items.
  parallel_for(0, 50, 12, set_sizes);
  EXPECT_EQ(take_part_count(), 3);
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 17), 34);
  EXPECT_EQ(std::count(sizes.begin(), sizes.begin() + 50, 16), 16);
  set_thread_count(1);
}

TEST(ThreadsTest, PartsOfTheLongestRange) {
  constexpr int64_t kItems = INT64_MAX;
  for (int64_t parts : {1, 3, 4, 64, 1000}) {
    EXPECT_EQ(part_begin(0, kItems, parts, 0), 0);
    EXPECT_EQ(part_begin(0, kItems, parts, parts), kItems);
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t size = part_begin(0, kItems, parts, part + 1) - part_begin(0, kItems, parts, part);
      EXPECT_TRUE(size == kItems / parts || size == kItems / parts + 1) << part << " of " << parts;
    }
  }
}

TEST(ThreadsTest, NoPool) {
  set_thread_pool(nullptr);
  EXPECT_FALSE(has_thread_pool());
  EXPECT_EQ(thread_count(), 1);
  EXPECT_TRUE(use_threads(1));
  EXPECT_FALSE(use_threads(2));
  EXPECT_FALSE(use_threads(kAllProcessors));
  int calls = 0;
  parallel_for(0, 10 * kGrain, 1, [&](int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(ThreadsTest, SmallRangesHaveNoThreads) {
  set_thread_count(7);
  int calls = 0;
  parallel_for(0, 100, 100, [&](int64_t, int64_t) { ++calls; });
  parallel_for(5, 5, 1, [&](int64_t, int64_t) { ++calls; });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(take_part_count(), 0);
  set_thread_count(1);
}

TEST(ThreadsTest, Elementwise) {
  std::mt19937 random(3);
  for (int round = 0; round < 6; ++round) {
    const int rank = 1 + static_cast<int>(random() % 4);
    const std::vector<int> sizes = random_sizes(rank, 150000, random);
    OwnedTensor<float> a(sizes, random_order<uint8_t>(rank, random));
    OwnedTensor<Half> b(shrunk(sizes, random), random_order<uint8_t>(rank, random));
    OwnedTensor<float> out(sizes, random_order<uint8_t>(rank, random));
    a.fill_with_fractions(random);
    b.fill_with_fractions(random);
    expect_same(out, [&] {
      elementwise([](float x, float y) -> float { return std::exp(x) + y * y; }, out.tensor(), a.tensor(), b.tensor());
    });
    EXPECT_GT(take_part_count(), 1);
  }
}

TEST(ThreadsTest, ElementwiseComputesWhatTheFunctionSays) {
  std::mt19937 random(4);
  OwnedTensor<float> a({300, 400});
  OwnedTensor<Half> b({300, 1});
  OwnedTensor<Half> out({300, 400}, {1, 0});
  a.fill_randomly(random);
  b.fill_randomly(random);
  set_thread_count(3);
  elementwise([](float x, float y) -> float { return x * y + 1; }, out.tensor(), a.tensor(), b.tensor());
  for (int64_t i = 0; i < 300; ++i) {
    for (int64_t j = 0; j < 400; ++j) {
      ASSERT_EQ(static_cast<float>(out.data()[j * 300 + i]),
                a.data()[i * 400 + j] * static_cast<float>(b.data()[i]) + 1);
    }
  }
  set_thread_count(1);
}

TEST(ThreadsTest, Copy) {
  std::mt19937 random(5);
  for (int round = 0; round < 6; ++round) {
    const int rank = 2 + static_cast<int>(random() % 3);
    const std::vector<int> sizes = random_sizes(rank, 150000, random);
    OwnedTensor<float> in(sizes, random_order<uint8_t>(rank, random));
    OwnedTensor<float> same(sizes, random_order<uint8_t>(rank, random));
    OwnedTensor<Half> converted(sizes, random_order<uint8_t>(rank, random));
    in.fill_randomly(random);
    expect_same(same, [&] { copy(in.tensor(), same.tensor()); });
    expect_same(converted, [&] { copy(in.tensor(), converted.tensor()); });
    EXPECT_GT(take_part_count(), 1);
    const std::vector<int64_t> from = testing::offsets_of(ConstStridedView(in.tensor()));
    const std::vector<int64_t> to = testing::offsets_of(ConstStridedView(same.tensor()));
    const std::vector<int64_t> to_half = testing::offsets_of(ConstStridedView(converted.tensor()));
    for (size_t i = 0; i < from.size(); ++i) {
      const float value = in.data()[from[i] / 4];
      ASSERT_EQ(same.data()[to[i] / 4], value);
      ASSERT_EQ(static_cast<float>(converted.data()[to_half[i] / 2]), value);
    }
  }
}

TEST(ThreadsTest, Fill) {
  OwnedTensor<int16_t> out({500, 300}, {1, 0});
  expect_same(out, [&] { fill(StridedView(out.tensor()), 7); });
  EXPECT_GT(take_part_count(), 1);
  EXPECT_EQ(out.values(), std::vector<int16_t>(150000, 7));
}

struct Sum {
  using Argument = float;
  using Accumulator = float;
  using Result = float;
  float start() const { return 0; }
  void add(float& total, float value) const { total += value; }
  void merge(float& total, float other) const { total += other; }
  float finish(float total) const { return total; }
};

/// The position of the first of the largest values.
struct ArgMax {
  struct Best {
    float value;
    int64_t index;
  };
  using Argument = float;
  using Accumulator = Best;
  using Result = int64_t;
  Best start() const { return {-INFINITY, INT64_MAX}; }
  void add(Best& best, float value, int64_t index) const { merge(best, {value, index}); }
  void merge(Best& best, const Best& other) const {
    if (other.value > best.value || (other.value == best.value && other.index < best.index)) {
      best = other;
    }
  }
  int64_t finish(const Best& best) const { return best.index; }
};

/// Reduces a random tensor over random dimensions, with all numbers of threads, and compares with plain loops.
template <typename In>
void test_reductions(int64_t numel, unsigned seed, int rounds) {
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round) {
    const int rank = 1 + static_cast<int>(random() % 4);
    const std::vector<int> sizes = random_sizes(rank, numel, random);
    OwnedTensor<In> in(sizes, random_order<uint8_t>(rank, random));
    in.fill_randomly(random);
    DimSet dims;
    std::vector<int> out_sizes = sizes;
    for (int d = 0; d < rank; ++d) {
      if (random() % 2 == 0) {
        dims.insert(d);
        out_sizes[d] = 1;
      }
    }
    OwnedTensor<float> sums(out_sizes);
    OwnedTensor<int64_t> positions(out_sizes);
    expect_same(sums, [&] { reduce(Sum{}, in.tensor(), dims, sums.tensor()); });
    expect_same(positions, [&] { reduce(ArgMax{}, in.tensor(), dims, positions.tensor()); });

    const ConstStridedView view(in.tensor());
    const std::vector<int64_t> in_offsets = testing::offsets_of(view);
    const std::vector<int64_t> out_offsets = testing::offsets_of(ConstStridedView(sums.tensor()).broadcast_to(view));
    std::vector<double> expected_sums(sums.numel());
    std::vector<int64_t> seen(sums.numel());
    std::vector<ArgMax::Best> best(sums.numel(), ArgMax().start());
    for (size_t i = 0; i < in_offsets.size(); ++i) {
      const float value = static_cast<float>(in.data()[in_offsets[i] / static_cast<int64_t>(sizeof(In))]);
      const int64_t result = out_offsets[i] / 4;
      expected_sums[result] += value;
      ArgMax().add(best[result], value, seen[result]++);
    }
    for (int64_t i = 0; i < sums.numel(); ++i) {
      ASSERT_EQ(sums.data()[i], expected_sums[i]);
      ASSERT_EQ(positions.data()[i], best[i].index);
    }
  }
}

TEST(ThreadsTest, LargeReductions) { test_reductions<float>(100000, 6, 5); }
TEST(ThreadsTest, ConvertingReductions) { test_reductions<Half>(100000, 7, 5); }
TEST(ThreadsTest, SmallReductions) { test_reductions<float>(700, 8, 50); }

TEST(ThreadsTest, OneLargeSumIsDivided) {
  std::mt19937 random(9);
  OwnedTensor<float> in({300000});
  in.fill_with_fractions(random);
  DimSet all;
  all.insert(0);
  OwnedTensor<float> sum({1});
  expect_same(sum, [&] { reduce(Sum{}, in.tensor(), all, sum.tensor()); });
  EXPECT_GT(take_part_count(), 1);
}

}  // namespace
}  // namespace rules_executorch::kernels
