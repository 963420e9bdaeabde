// Tests of extreme_reduction.h, mean.h, variance.h and normalize.h.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "kernels/reduce/extreme_reduction.h"
#include "kernels/reduce/mean.h"
#include "kernels/reduce/normalize.h"
#include "kernels/reduce/variance.h"
#include "kernels/testing/tensors.h"

namespace rules_executorch::kernels {
namespace {

using testing::OwnedTensor;

ET_DEFINE_OPERATOR_NAME(kName, "statistics_test");
const float kNan = std::nanf("");

DimSet dims(std::initializer_list<int64_t> list) {
  DimSet set;
  for (const int64_t dim : list) {
    set.insert(dim);
  }
  return set;
}

TEST(ExtremeTest, TheFirstOfSeveralAndTheFirstNan) {
  OwnedTensor<float> in({3, 40}), values({3});
  OwnedTensor<int64_t> indices({3});
  for (int i = 0; i < 120; ++i) {
    in.data()[i] = static_cast<float>(i % 7);
  }
  in.data()[80 + 33] = in.data()[80 + 21] = kNan;
  KernelRuntimeContext context;
  extreme_out<kName, true>(context, in.tensor(), dims({1}), false, values.tensor());
  extreme_index_out<kName, true>(context, in.tensor(), dims({1}), false, indices.tensor());
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(values.data()[0], 6);
  EXPECT_EQ(values.data()[1], 6);
  EXPECT_TRUE(std::isnan(values.data()[2]));
  EXPECT_EQ(indices.values(), std::vector<int64_t>({6, 1, 21}));
}

TEST(ExtremeTest, TheExtremesOfTheDtypeAreFound) {
  OwnedTensor<int64_t> in({3}), least({});
  const int64_t values[] = {INT64_MAX, INT64_MAX, INT64_MAX};
  std::copy_n(values, 3, in.data());
  KernelRuntimeContext context;
  extreme_out<kName, false>(context, in.tensor(), dims({0}), false, least.tensor());
  EXPECT_EQ(least.data()[0], INT64_MAX);
  OwnedTensor<float> infinite({2}), largest({});
  infinite.data()[0] = infinite.data()[1] = -std::numeric_limits<float>::infinity();
  extreme_out<kName, true>(context, infinite.tensor(), dims({0}), false, largest.tensor());
  EXPECT_EQ(largest.data()[0], -std::numeric_limits<float>::infinity());
  extreme_index_out<kName, true>(context, infinite.tensor(), dims({0}), false, least.tensor());
  EXPECT_EQ(least.data()[0], 0);
}

TEST(ExtremeTest, NothingHasNoLargestValue) {
  OwnedTensor<float> in({2, 0, 3}), out({2, 3});
  KernelRuntimeContext context;
  extreme_out<kName, true>(context, in.tensor(), dims({1}), false, out.tensor());
  EXPECT_EQ(context.failure_state(), Error::InvalidArgument);
  OwnedTensor<float> none({0, 3}), none_out({0});
  KernelRuntimeContext other;
  extreme_out<kName, true>(other, none.tensor(), dims({1}), false, none_out.tensor());
  EXPECT_EQ(other.failure_state(), Error::Ok) << "nothing is asked for";
}

TEST(MeanTest, OfNothingIsNan) {
  OwnedTensor<float> in({2, 0}), out({2});
  reduce(Mean<float>{0}, in.tensor(), dims({1}), out.tensor());
  EXPECT_TRUE(std::isnan(out.data()[0]));
  OwnedTensor<float> four({4}), mean({});
  for (int i = 0; i < 4; ++i) {
    four.data()[i] = static_cast<float>(i);
  }
  reduce(Mean<float>{4}, four.tensor(), dims({0}), mean.tensor());
  EXPECT_EQ(mean.data()[0], 1.5f);
}

TEST(VarianceTest, OfLargeNumbersThatHardlyDiffer) {
  OwnedTensor<double> in({1000}), out({});
  for (int i = 0; i < 1000; ++i) {
    in.data()[i] = 1e9 + i % 2;
  }
  KernelRuntimeContext context;
  variance_out<kName>(context, in.tensor(), std::nullopt, /*correction=*/0, false, out.tensor());
  EXPECT_NEAR(out.data()[0], 0.25, 1e-9);
  variance_out<kName>(context, in.tensor(), std::nullopt, /*correction=*/1, false, out.tensor());
  EXPECT_NEAR(out.data()[0], 0.25 * 1000 / 999, 1e-9);
}

TEST(VarianceTest, OfTooFewValues) {
  OwnedTensor<float> in({1}), out({});
  KernelRuntimeContext context;
  variance_out<kName>(context, in.tensor(), std::nullopt, 1, false, out.tensor());
  EXPECT_TRUE(std::isnan(out.data()[0])) << "0 / 0";
  variance_out<kName>(context, in.tensor(), std::nullopt, 0, false, out.tensor());
  EXPECT_EQ(out.data()[0], 0);
  OwnedTensor<int> integers({3});
  variance_out<kName>(context, integers.tensor(), std::nullopt, 0, false, out.tensor());
  EXPECT_EQ(context.failure_state(), Error::InvalidArgument);
}

/// Normalizes rows of `columns` values, with the dim order `order`.
void check_normalization(int rows, int columns, const std::vector<uint8_t>& order) {
  std::mt19937 random(1);
  OwnedTensor<float> in({rows, columns}, order), out({rows, columns}), mean({rows}), rstd({rows});
  in.fill_with_fractions(random);
  const double two = 2, five = 5;
  const ConstStridedView view(in.tensor());
  normalize<float>({view, parameter_or(std::nullopt, two).broadcast_to(view),
                    parameter_or(std::nullopt, five).broadcast_to(view), StridedView(out.tensor()),
                    StridedView(mean.tensor()), StridedView(rstd.tensor()), /*first_normalized=*/1, /*eps=*/0});
  for (int i = 0; i < rows; ++i) {
    double sum = 0, squares = 0;
    for (int j = 0; j < columns; ++j) {
      const double value = (out.data()[i * columns + j] - five) / two;
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum / columns, 0, 1e-5);
    EXPECT_NEAR(squares / columns, 1, 1e-4);
    const float first = in.data()[order[0] == 0 ? i * columns : i];
    EXPECT_NEAR((first - mean.data()[i]) * rstd.data()[i], (out.data()[i * columns] - five) / two, 1e-5);
  }
}

TEST(NormalizeTest, RowsOfEverySizeAndOrder) {
  for (const int columns : {2, 15, 17, 256, 257, 1000}) {
    check_normalization(3, columns, {0, 1});
    check_normalization(3, columns, {1, 0});
  }
}

TEST(NormalizeTest, MovesTheRunningVariance) {
  OwnedTensor<float> in({1, 4}), out({1, 4}), mean({1}), rstd({1}), running({1});
  std::iota(in.data(), in.data() + 4, 1.0f);
  running.data()[0] = 10;
  const double one = 1;
  const ConstStridedView view(in.tensor());
  const ConstStridedView parameter = parameter_or(std::nullopt, one).broadcast_to(view);
  normalize<float>({view, parameter, parameter, StridedView(out.tensor()), StridedView(mean.tensor()),
                    StridedView(rstd.tensor()), 1, 0, reinterpret_cast<char*>(running.data()), 0.25});
  // The unbiased variance of 1 to 4 is 5 / 3.
  EXPECT_NEAR(running.data()[0], 0.25 * 5 / 3 + 0.75 * 10, 1e-6);
  EXPECT_NEAR(rstd.data()[0], 1 / std::sqrt(1.25), 1e-6);
}

TEST(NormalizeTest, NothingHasTheMeanZero) {
  OwnedTensor<float> in({2, 0}), out({2, 0}), mean({2}), rstd({2});
  const double one = 1;
  const ConstStridedView view(in.tensor());
  const ConstStridedView parameter = parameter_or(std::nullopt, one).broadcast_to(view);
  normalize<float>({view, parameter, parameter, StridedView(out.tensor()), StridedView(mean.tensor()),
                    StridedView(rstd.tensor()), 1, 1e-5});
  EXPECT_EQ(mean.values(), std::vector<float>({0, 0}));
}

TEST(NormalizeTest, ParameterTypes) {
  OwnedTensor<float> floats({1});
  OwnedTensor<Half> halves({1});
  OwnedTensor<double> doubles({1});
  const std::optional<Tensor> none, of_floats(floats.tensor()), of_halves(halves.tensor()),
      of_doubles(doubles.tensor());
  EXPECT_EQ(parameter_type(ScalarType::Half, none, none), ScalarType::Half);
  EXPECT_EQ(parameter_type(ScalarType::Half, of_floats, none), ScalarType::Float);
  EXPECT_EQ(parameter_type(ScalarType::Half, none, of_halves), ScalarType::Half);
  EXPECT_EQ(parameter_type(ScalarType::Half, of_floats, of_halves), ScalarType::Undefined);
  EXPECT_EQ(parameter_type(ScalarType::Float, of_doubles, none), ScalarType::Undefined);
  EXPECT_EQ(parameter_type(ScalarType::Double, of_floats, none), ScalarType::Undefined);
}

}  // namespace
}  // namespace rules_executorch::kernels
