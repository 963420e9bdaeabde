#include "kernels/views/memory_format.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/testing/tensors.h"

namespace rules_executorch::kernels {
namespace {

using testing::OwnedTensor;
using Sizes = std::vector<int>;
using Order = std::vector<uint8_t>;

const Order kFirst = {0, 1, 2, 3};
const Order kLast = {0, 2, 3, 1};
const Order kOther = {0, 2, 1, 3};

bool contiguous(const Sizes& sizes, const Order& dim_order) {
  return is_contiguous(OwnedTensor<float>(sizes, dim_order).tensor());
}

bool channels_last(const Sizes& sizes, const Order& dim_order) {
  return is_channels_last(OwnedTensor<float>(sizes, dim_order).tensor());
}

bool same(const Sizes& sizes, const Order& a, const Order& b) {
  return have_same_dim_order(OwnedTensor<float>(sizes, a).tensor(), OwnedTensor<float>(sizes, b).tensor());
}

TEST(MemoryFormatTest, OrdersOfImages) {
  const Sizes sizes = {2, 3, 4, 5};
  EXPECT_TRUE(contiguous(sizes, kFirst));
  EXPECT_FALSE(contiguous(sizes, kLast));
  EXPECT_FALSE(contiguous(sizes, kOther));
  EXPECT_TRUE(channels_last(sizes, kLast));
  EXPECT_FALSE(channels_last(sizes, kFirst));
  EXPECT_FALSE(channels_last(sizes, kOther));
  EXPECT_TRUE(same(sizes, kLast, kLast));
  EXPECT_FALSE(same(sizes, kLast, kFirst));
}

TEST(MemoryFormatTest, OrdersOfVolumes) {
  const Sizes sizes = {2, 3, 4, 5, 6};
  EXPECT_TRUE(channels_last(sizes, {0, 2, 3, 4, 1}));
  EXPECT_FALSE(channels_last(sizes, {0, 1, 2, 3, 4}));
  EXPECT_FALSE(channels_last(sizes, {0, 3, 2, 4, 1}));
  EXPECT_FALSE(channels_last(sizes, {0, 2, 3, 1, 4}));
}

TEST(MemoryFormatTest, DimensionsOfSizeOneMayBeAnywhere) {
  for (const auto& order : {kFirst, kLast, kOther, Order{1, 0, 2, 3}}) {
    EXPECT_TRUE(contiguous({2, 1, 4, 5}, order));
    EXPECT_TRUE(channels_last({2, 1, 4, 5}, order));
    EXPECT_TRUE(same({2, 1, 4, 5}, kFirst, order));
  }
  for (const auto& order : {kFirst, kLast, Order{2, 0, 3, 1}}) {
    EXPECT_TRUE(contiguous({2, 3, 1, 1}, order));
    EXPECT_TRUE(channels_last({2, 3, 1, 1}, order));
    EXPECT_TRUE(same({2, 3, 1, 1}, kLast, order));
  }
  EXPECT_TRUE(contiguous({1, 3, 4, 5}, {1, 2, 0, 3}));
  EXPECT_FALSE(contiguous({2, 3, 4, 1}, kLast));
  EXPECT_FALSE(channels_last({2, 3, 4, 1}, kFirst));
  EXPECT_FALSE(same({2, 3, 4, 1}, kFirst, kLast));
}

TEST(MemoryFormatTest, TensorsWithoutElementsHaveAllOrders) {
  for (const auto& sizes : std::vector<Sizes>{{0, 3, 4, 5}, {2, 0, 4, 5}, {2, 3, 4, 0}}) {
    for (const auto& order : {kFirst, kLast, kOther}) {
      EXPECT_TRUE(contiguous(sizes, order));
      EXPECT_TRUE(channels_last(sizes, order));
      EXPECT_TRUE(same(sizes, kFirst, order));
    }
  }
}

TEST(MemoryFormatTest, OtherRanks) {
  EXPECT_TRUE(contiguous({}, {}));
  EXPECT_TRUE(contiguous({7}, {0}));
  EXPECT_TRUE(contiguous({3, 5}, {0, 1}));
  EXPECT_FALSE(contiguous({3, 5}, {1, 0}));
  EXPECT_FALSE(channels_last({3, 5}, {0, 1}));
  EXPECT_FALSE(channels_last({0, 3, 5}, {0, 1, 2}));
}

TEST(MemoryFormatTest, TensorsOfOtherSizesHaveNoCommonOrder) {
  OwnedTensor<float> row({3, 5});
  OwnedTensor<float> longer({3, 6});
  OwnedTensor<float> line({15});
  EXPECT_FALSE(have_same_dim_order(row.tensor(), longer.tensor()));
  EXPECT_FALSE(have_same_dim_order(row.tensor(), line.tensor()));
}

}  // namespace
}  // namespace rules_executorch::kernels
