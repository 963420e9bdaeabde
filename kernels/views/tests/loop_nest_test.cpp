#include "kernels/views/loop_nest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "kernels/testing/tensors.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {
namespace {

using testing::offsets_of;
using testing::random_order;
using testing::random_sizes;

using Offsets = std::pair<int64_t, int64_t>;

/// The pairs of offsets that `nest`, with two operands, visits from element `begin` to `end`.
std::vector<Offsets> visited(const LoopNest& nest, int64_t begin, int64_t end) {
  std::vector<Offsets> pairs;
  nest.for_each_row(begin, end, [&](const int64_t* offsets, int64_t n) {
    EXPECT_GE(n, 1);
    EXPECT_LE(n, nest.row_size());
    for (int64_t i = 0; i < n; ++i) {
      pairs.emplace_back(offsets[0] + i * nest.row_stride(0), offsets[1] + i * nest.row_stride(1));
    }
  });
  return pairs;
}

/// A shape of `sizes` with a random order of dimensions in memory. Some strides are negative. With `repeats`, some are
/// 0.
StridedShape random_shape(const std::vector<int>& sizes, ScalarType dtype, bool repeats, std::mt19937& random) {
  StridedShape shape;
  shape.dtype = dtype;
  shape.rank = static_cast<int64_t>(sizes.size());
  int64_t stride = 1;
  for (int d : random_order<int>(static_cast<int>(sizes.size()), random)) {
    const unsigned kind = random() % 6;
    shape.strides[d] = repeats && kind == 0 ? 0 : kind == 1 ? -stride : stride;
    stride *= sizes[d];
  }
  std::copy(sizes.begin(), sizes.end(), shape.sizes);
  return shape;
}

TEST(LoopNestTest, VisitsEachElementOnce) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<int> sizes = random_sizes(static_cast<int>(random() % 6), 200, random);
    const StridedShape a = random_shape(sizes, ScalarType::Float, false, random);
    const StridedShape b = random_shape(sizes, ScalarType::Half, true, random);
    const LoopNest nest = LoopNest::over(a, b);
    const std::vector<int64_t> a_offsets = offsets_of(a);
    const std::vector<int64_t> b_offsets = offsets_of(b);
    std::vector<Offsets> expected;
    for (size_t i = 0; i < a_offsets.size(); ++i) {
      expected.emplace_back(a_offsets[i], b_offsets[i]);
    }
    std::vector<Offsets> all = visited(nest, 0, nest.numel());
    std::sort(all.begin(), all.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(all, expected);
  }
}

TEST(LoopNestTest, RangesAreWhatTheWholeIsMadeOf) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const std::vector<int> sizes = random_sizes(1 + static_cast<int>(random() % 5), 300, random);
    const LoopNest nest = LoopNest::over(random_shape(sizes, ScalarType::Float, false, random),
                                         random_shape(sizes, ScalarType::Double, true, random));
    const std::vector<Offsets> whole = visited(nest, 0, nest.numel());
    std::vector<Offsets> pieces;
    for (int64_t begin = 0; begin < nest.numel();) {
      const int64_t end = std::min(nest.numel(), begin + 1 + static_cast<int64_t>(random() % 50));
      const std::vector<Offsets> piece = visited(nest, begin, end);
      pieces.insert(pieces.end(), piece.begin(), piece.end());
      begin = end;
    }
    ASSERT_EQ(pieces, whole);
  }
}

TEST(LoopNestTest, RowsAreWhatTheWholeIsMadeOf) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::vector<int> sizes = random_sizes(1 + static_cast<int>(random() % 5), 300, random);
    const LoopNest nest = LoopNest::over(random_shape(sizes, ScalarType::Float, false, random),
                                         random_shape(sizes, ScalarType::Double, true, random));
    if (nest.rank() == 1) {
      continue;
    }
    const LoopNest rows = nest.of_rows();
    ASSERT_EQ(rows.numel() * nest.row_size(), nest.numel());
    std::vector<Offsets> elements;
    for (const Offsets& row : visited(rows, 0, rows.numel())) {
      for (int64_t i = 0; i < nest.row_size(); ++i) {
        elements.emplace_back(row.first + i * nest.row_stride(0), row.second + i * nest.row_stride(1));
      }
    }
    ASSERT_EQ(elements, visited(nest, 0, nest.numel()));
  }
}

TEST(LoopNestTest, ContiguousTensorsAreOneRow) {
  StridedShape shape;
  shape.dtype = ScalarType::Float;
  shape.rank = 3;
  // Dimensions in the order 1, 2, 0.
  const int64_t sizes[] = {2, 3, 4};
  const int64_t strides[] = {1, 8, 2};
  std::copy_n(sizes, 3, shape.sizes);
  std::copy_n(strides, 3, shape.strides);
  const LoopNest nest = LoopNest::over(shape, shape);
  EXPECT_EQ(nest.rank(), 1);
  EXPECT_EQ(nest.row_size(), 24);
  EXPECT_EQ(nest.row_stride(0), 4);
}

TEST(LoopNestTest, NothingToVisit) {
  StridedShape shape;
  shape.dtype = ScalarType::Float;
  shape.rank = 2;
  shape.sizes[0] = 3;
  const LoopNest nest = LoopNest::over(shape, shape);
  EXPECT_EQ(nest.numel(), 0);
  EXPECT_TRUE(visited(nest, 0, 0).empty());
}

TEST(LoopNestTest, NoDimensionsAreOneElement) {
  StridedShape shape;
  shape.dtype = ScalarType::Float;
  const LoopNest nest = LoopNest::over(shape, shape);
  EXPECT_EQ(nest.numel(), 1);
  EXPECT_EQ(visited(nest, 0, 1), std::vector<Offsets>{Offsets(0, 0)});
}

}  // namespace
}  // namespace rules_executorch::kernels
