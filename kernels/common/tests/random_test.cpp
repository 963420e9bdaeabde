// random.h and distance.h.

#include "kernels/common/random.h"

#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <thread>
#include <vector>

#include "kernels/common/distance.h"
#include "kernels/common/tests/tensors.h"
#include "kernels/common/tests/thread_provider.h"

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

template <typename T>
Rows row_of(OwnedTensor<T>& tensor) {
  return {CppTypeToScalarType<T>::value, reinterpret_cast<const char*>(tensor.data()), 0, sizeof(T)};
}

template <typename Result, typename T>
Result distance(OwnedTensor<T>& a, OwnedTensor<T>& b, double p) {
  Result result;
  distances(row_of(a), row_of(b), a.numel(), p, 1, &result);
  return result;
}

TEST(DistanceTest, OfEverySize) {
  for (const int size : {0, 1, 15, 16, 17, 255, 256, 257, 1000}) {
    OwnedTensor<double> a({size}), b({size});
    OwnedTensor<Half> of_half({size});
    double sum = 0;
    for (int i = 0; i < size; ++i) {
      a.data()[i] = i;
      b.data()[i] = i % 2 == 0 ? i : i - 2;
      sum += i % 2 == 0 ? 0 : 2;
    }
    EXPECT_EQ(distance<double>(a, b, 1), sum);
    EXPECT_EQ(distance<double>(a, b, 0), sum / 2);
    EXPECT_NEAR(distance<double>(a, b, 2), std::sqrt(2 * sum), 1e-9);
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(distance<double>(a, b, infinity), size > 1 ? 2 : 0);
    EXPECT_EQ(distance<float>(of_half, of_half, 3), 0);
  }
}

TEST(DistanceTest, NanIsEveryDistance) {
  OwnedTensor<float> a({20}), b({20});
  a.data()[17] = std::nanf("");
  for (const double p : {0.0, 0.5, 1.0, 2.0, 3.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(std::isnan(distance<float>(a, b, p))) << p;
  }
}

TEST(DistanceTest, RowsThatDoNotLieTogether) {
  // Without memory for temporary data, rows stay where they are; the distances are the same.
  ::executorch::extension::MallocMemoryAllocator allocator;
  for (const bool has_memory : {true, false}) {
    KernelRuntimeContext context(nullptr, has_memory ? &allocator : nullptr);
    OwnedTensor<Half> x({3, 300}, {1, 0});
    for (int i = 0; i < 900; ++i) {
      x.data()[i] = static_cast<Half>(static_cast<float>(i % 3));  // Rows of 0, of 1 and of 2.
    }
    const ConstStridedView view = with_dense_rows(context, x.tensor(), ScalarType::Float);
    EXPECT_EQ(view.dtype, has_memory ? ScalarType::Float : ScalarType::Half);
    const int64_t row = view.strides[0] * view.element_size(), element = view.strides[1] * view.element_size();
    float results[3];
    distances({view.dtype, view.data, 0, element}, {view.dtype, view.data, row, element}, 300, 1, 3, results);
    EXPECT_EQ(std::vector<float>(results, results + 3), std::vector<float>({0, 300, 600}));
  }
}

}  // namespace
}  // namespace rules_executorch::kernels
