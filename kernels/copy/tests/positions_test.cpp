// Tests of dim_index.h, in_order.h, offset_copy.h and broadcast.h.

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/copy/dim_index.h"
#include "kernels/copy/in_order.h"
#include "kernels/copy/offset_copy.h"
#include "kernels/testing/tensors.h"
#include "kernels/views/broadcast.h"

namespace rules_executorch::kernels {
namespace {

using testing::OwnedTensor;

TEST(DimIndexTest, GathersAndScatters) {
  std::mt19937 random(1);
  for (const std::vector<uint8_t>& order : {std::vector<uint8_t>{0, 1, 2}, {2, 1, 0}}) {
    for (int dim = 0; dim < 3; ++dim) {
      std::vector<int> index_sizes = {3, 4, 5};
      index_sizes[dim] = 600;
      OwnedTensor<int> source({3, 4, 5}, order), back({3, 4, 5});
      OwnedTensor<int64_t> index(index_sizes);
      OwnedTensor<int> gathered(index_sizes, order);
      std::iota(source.data(), source.data() + source.numel(), 0);
      const ConstStridedView view(source.tensor());
      for (int64_t i = 0; i < index.numel(); ++i) {
        index.data()[i] = static_cast<int64_t>(random() % view.sizes[dim]);
      }
      gather(view, DimIndex(view, dim, ConstStridedView(index.tensor())), StridedView(gathered.tensor()));
      const StridedView target(back.tensor());
      std::fill_n(back.data(), back.numel(), -1);
      scatter(ConstStridedView(gathered.tensor()), DimIndex(target, dim, ConstStridedView(index.tensor())), target);
      const std::vector<int64_t> from = testing::offsets_of(view), to = testing::offsets_of(target);
      for (size_t i = 0; i < from.size(); ++i) {
        // 600 positions choose each of at most 5 elements.
        ASSERT_EQ(back.data()[to[i] / 4], source.data()[from[i] / 4]);
      }
    }
  }
}

TEST(DimIndexTest, PositionsExist) {
  OwnedTensor<int64_t> index({300});
  const ConstStridedView view(index.tensor());
  EXPECT_TRUE(positions_exist(view, 1));
  EXPECT_FALSE(positions_exist(view, 0));
  for (const int64_t wrong : {int64_t{5}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    index.data()[299] = wrong;
    EXPECT_FALSE(positions_exist(view, 5)) << wrong;
  }
  index.data()[299] = 4;
  EXPECT_TRUE(positions_exist(view, 5));
  OwnedTensor<float> floats({3});
  EXPECT_FALSE(positions_exist(ConstStridedView(floats.tensor()), 5));
  OwnedTensor<int> nothing({0});
  EXPECT_TRUE(positions_exist(ConstStridedView(nothing.tensor()), 0));
}

TEST(DimIndexTest, FitsWithin) {
  OwnedTensor<int> tensor({3, 4}), same({3, 9}), larger({4, 4}), flat({3});
  const auto fits = [&](OwnedTensor<int>& index, int64_t except) {
    return fits_within(ConstStridedView(index.tensor()), ConstStridedView(tensor.tensor()), except);
  };
  EXPECT_TRUE(fits(same, 1));
  EXPECT_FALSE(fits(same, 0));
  EXPECT_FALSE(fits(same, -1));
  EXPECT_FALSE(fits(larger, 1));
  EXPECT_FALSE(fits(flat, 0));
}

TEST(DimIndexTest, ZeroDimensionsGetOne) {
  OwnedTensor<int> scalar({});
  EXPECT_EQ(with_dimension(ConstStridedView(scalar.tensor())).rank, 1);
  EXPECT_EQ(with_dimension(ConstStridedView(scalar.tensor())).numel(), 1);
}

TEST(InOrderTest, TheOrderIsThatOfTheIndices) {
  OwnedTensor<uint8_t> mask({20, 30}, {1, 0});
  const ConstStridedView view(mask.tensor());
  const std::vector<int64_t> offsets = testing::offsets_of(view);
  std::vector<int64_t> expected, expected_offsets;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const InOrder::Run run = InOrder(view).from(static_cast<int64_t>(i));
    EXPECT_EQ(run.offset, offsets[i]);
    EXPECT_EQ(run.n, 30 - static_cast<int64_t>(i) % 30);
    EXPECT_EQ(run.offset + (run.n - 1) * run.stride, offsets[i + static_cast<size_t>(run.n) - 1]);
    if (i % 7 < 2) {
      mask.data()[offsets[i]] = static_cast<uint8_t>(i % 255 + 1);
      expected.push_back(static_cast<int64_t>(i));
      expected_offsets.push_back(4 * static_cast<int64_t>(i));
    }
  }
  const auto offsets_where_true = [&](const StridedShape& shape) {
    std::vector<int64_t> visited;
    for_each_chosen(view, shape,
                    [&](const int64_t* found, int64_t n) { visited.insert(visited.end(), found, found + n); });
    return visited;
  };
  EXPECT_EQ(offsets_where_true(numbers_of(view)), expected);
  EXPECT_EQ(offsets_where_true(view.contiguous(ScalarType::Float)), expected_offsets);
  EXPECT_EQ(count_true(view), static_cast<int64_t>(expected.size()));
}

TEST(InOrderTest, OneElementIsOneRun) {
  OwnedTensor<int> scalar({});
  EXPECT_EQ(InOrder(ConstStridedView(scalar.tensor())).from(0).n, 1);
}

TEST(OffsetCopyTest, GathersAndScatters) {
  const std::vector<int64_t> places = {5, 0, 3};
  for (const int64_t size : {1, 2, 4, 8, 16}) {
    std::vector<char> source(8 * size), gathered(6 * size), back(8 * size);
    std::iota(source.begin(), source.end(), char{0});
    std::vector<int64_t> offsets;
    for (const int64_t place : places) {
      offsets.push_back(place * size);
    }
    // Gathers to every second element, and scatters back.
    gather_elements(source.data(), offsets.data(), gathered.data(), 2 * size, size, 3);
    scatter_elements(gathered.data(), 2 * size, back.data(), offsets.data(), size, 3);
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t byte = 0; byte < size; ++byte) {
        ASSERT_EQ(gathered[2 * i * size + byte], source[offsets[i] + byte]);
        ASSERT_EQ(back[offsets[i] + byte], source[offsets[i] + byte]);
      }
    }
  }
}

TEST(InOrderTest, NothingIsTrue) {
  OwnedTensor<bool> nothing({3, 0}), scalar({});
  EXPECT_EQ(count_true(ConstStridedView(nothing.tensor())), 0);
  EXPECT_EQ(count_true(ConstStridedView(scalar.tensor())), 0);
  scalar.data()[0] = true;
  EXPECT_EQ(count_true(ConstStridedView(scalar.tensor())), 1);
}

TEST(BroadcastTest, Shapes) {
  const auto shape = [](std::initializer_list<int64_t> sizes) {
    StridedShape result;
    for (const int64_t size : sizes) {
      result.sizes[result.rank++] = size;
    }
    return result;
  };
  const auto broadcast = [&](const StridedShape& a, const StridedShape& b) {
    StridedShape result;
    if (!broadcast_shapes(a, b, result)) {
      return std::vector<int64_t>{-1};
    }
    return std::vector<int64_t>(result.sizes, result.sizes + result.rank);
  };
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(broadcast(shape({}), shape({})), Sizes());
  EXPECT_EQ(broadcast(shape({3, 1}), shape({4})), Sizes({3, 4}));
  EXPECT_EQ(broadcast(shape({4}), shape({2, 3, 1})), Sizes({2, 3, 4}));
  EXPECT_EQ(broadcast(shape({0}), shape({2, 1})), Sizes({2, 0}));
  EXPECT_EQ(broadcast(shape({3}), shape({4})), Sizes({-1}));
  EXPECT_EQ(broadcast(shape({0}), shape({2})), Sizes({-1}));
}

}  // namespace
}  // namespace rules_executorch::kernels
