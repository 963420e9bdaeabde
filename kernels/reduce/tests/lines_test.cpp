#include "kernels/reduce/lines.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/parallel/block.h"
#include "kernels/testing/tensors.h"
#include "kernels/testing/thread_provider.h"

namespace rules_executorch::kernels {
namespace {

using testing::OwnedTensor;

/// (x + 10) / sum + position for each element x of a line, where sum is the sum of all x + 10.
void share(Line<float>& line) {
  float count = 0;
  line.read([&](const float* x, int64_t start, int64_t n) {
    EXPECT_EQ(start, static_cast<int64_t>(count));
    for (int64_t i = 0; i < n; ++i) {
      count += x[i] == x[i] ? 1 : 0;
    }
  });
  EXPECT_EQ(count, static_cast<float>(line.size()));
  float sum = 0;
  line.write(
      [&](float* results, const float* x, int64_t, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          results[i] = x[i] + 10;
          sum += results[i];
        }
      },
      [](float* results, const float* x, int64_t, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          results[i] = x[i] + 10;
        }
      },
      [&](float* results, const float* x, int64_t start, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          results[i] = x[i] / sum + static_cast<float>(start + i);
        }
      });
}

template <typename T>
void test_lines(const std::vector<int>& sizes, std::vector<uint8_t> in_order, std::vector<uint8_t> out_order) {
  std::mt19937 random(1);
  OwnedTensor<T> in(sizes, in_order);
  OwnedTensor<T> out(sizes, out_order);
  in.fill_randomly(random);
  for (int dim = 0; dim < static_cast<int>(sizes.size()); ++dim) {
    apply_to_lines<float>(&share, in.tensor(), dim, out.tensor());
    // Checks the lines along `dim` one by one.
    const ConstStridedView in_view(in.tensor());
    const ConstStridedView out_view(out.tensor());
    const std::vector<int64_t> in_starts = testing::offsets_of(in_view.select(dim, 0));
    const std::vector<int64_t> out_starts = testing::offsets_of(out_view.select(dim, 0));
    for (size_t line = 0; line < in_starts.size(); ++line) {
      const T* x = in.data() + in_starts[line] / static_cast<int64_t>(sizeof(T));
      const T* y = out.data() + out_starts[line] / static_cast<int64_t>(sizeof(T));
      float sum = 0;
      for (int64_t i = 0; i < sizes[dim]; ++i) {
        sum += static_cast<float>(x[i * in_view.strides[dim]]) + 10;
      }
      for (int64_t i = 0; i < sizes[dim]; ++i) {
        const float expected = (static_cast<float>(x[i * in_view.strides[dim]]) + 10) / sum + static_cast<float>(i);
        ASSERT_EQ(static_cast<float>(y[i * out_view.strides[dim]]), static_cast<float>(static_cast<T>(expected)));
      }
    }
  }
}

TEST(LinesTest, OfOneBlock) {
  test_lines<float>({5, 7, 11}, {0, 1, 2}, {2, 0, 1});
  test_lines<Half>({5, 7, 11}, {1, 2, 0}, {0, 1, 2});
}

TEST(LinesTest, OfSeveralBlocks) {
  const int size = static_cast<int>(2 * kBlockSize) + 37;
  test_lines<float>({3, size}, {0, 1}, {1, 0});
  test_lines<Half>({3, size}, {0, 1}, {0, 1});
}

TEST(LinesTest, OfAnExactBlock) { test_lines<float>({2, static_cast<int>(kBlockSize)}, {0, 1}, {0, 1}); }

TEST(LinesTest, OfSeveralBlocksInPlaceOfCopies) { test_lines<float>({2, 3 * 4096 + 37}, {0, 1}, {0, 1}); }

TEST(LinesTest, OnThreads) {
  for (int64_t threads : {1, 2, 3, 7}) {
    testing::set_thread_count(threads);
    test_lines<float>({300, 301}, {0, 1}, {0, 1});
    EXPECT_EQ(testing::take_part_count() > 1, threads > 1);
  }
  testing::set_thread_count(1);
}

TEST(LinesTest, InPlace) {
  std::mt19937 random(2);
  OwnedTensor<float> in({4, 1000});
  OwnedTensor<float> out({4, 1000});
  in.fill_randomly(random);
  apply_to_lines<float>(&share, in.tensor(), 1, out.tensor());
  apply_to_lines<float>(&share, in.tensor(), 1, in.tensor());
  EXPECT_EQ(in.values(), out.values());
}

TEST(LinesTest, OfNoElements) {
  OwnedTensor<float> in({3, 0});
  OwnedTensor<float> out({3, 0});
  apply_to_lines<float>(&share, in.tensor(), 1, out.tensor());
  apply_to_lines<float>(&share, in.tensor(), 0, out.tensor());
}

}  // namespace
}  // namespace rules_executorch::kernels
