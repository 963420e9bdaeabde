// Tests of pooling.h, average_pool.h, planes.h, pixel_blocks.h, upsampling.h, resampling.h, padding.h and
// mapped_copy.h.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "kernels/copy/mapped_copy.h"
#include "kernels/images/average_pool.h"
#include "kernels/images/padding.h"
#include "kernels/images/pixel_blocks.h"
#include "kernels/images/planes.h"
#include "kernels/images/pooling.h"
#include "kernels/images/resampling.h"
#include "kernels/images/upsampling.h"
#include "kernels/testing/tensors.h"

namespace rules_executorch::kernels {
namespace {

using testing::OwnedTensor;
using Ints = std::vector<int64_t>;

ArrayRef<int64_t> list(const Ints& values) { return {values.data(), values.size()}; }

bool init(Pooling& pooling, Tensor& in, const Ints& kernel, const Ints& stride = {}, const Ints& padding = {0},
          const Ints& dilation = {1}, bool ceil_mode = false) {
  return pooling.init(in, list(kernel), list(stride), list(padding), list(dilation), ceil_mode);
}

TEST(PoolingTest, WindowsLieInTheInput) {
  for (int size = 1; size <= 9; ++size) {
    OwnedTensor<float> in({1, size, size});
    for (const bool ceil_mode : {false, true}) {
      for (int64_t code = 0; code < 4 * 4 * 3 * 3; ++code) {
        const int64_t kernel = 1 + code % 4, stride = 1 + code / 4 % 4, padding = code / 16 % 3,
                      dilation = 1 + code / 48;
        Pooling pooling;
        if (!init(pooling, in.tensor(), {kernel}, {stride}, {padding}, {dilation}, ceil_mode)) {
          continue;
        }
        for (int64_t i = 0; i < pooling.h.out_size; ++i) {
          EXPECT_GE(pooling.h.first(i), 0);
          EXPECT_LE(pooling.h.last(i), size);
          EXPECT_EQ((pooling.h.first(i) - pooling.h.begin(i)) % dilation, 0);
          EXPECT_LT(pooling.h.begin(i), size) << "a window after the input";
        }
      }
    }
  }
}

TEST(PoolingTest, RefusesWhatOverflows) {
  OwnedTensor<float> in({1, 4, 4});
  Pooling pooling;
  EXPECT_TRUE(init(pooling, in.tensor(), {2, 3}));
  EXPECT_EQ(pooling.h.stride, 2) << "the stride is the kernel's size";
  EXPECT_EQ(pooling.w.out_size, 1);
  for (const int64_t huge : {INT64_MAX, int64_t{1} << 32, int64_t{-1}, INT64_MIN}) {
    EXPECT_FALSE(init(pooling, in.tensor(), {huge}));
    EXPECT_FALSE(init(pooling, in.tensor(), {2}, {huge}));
    EXPECT_FALSE(init(pooling, in.tensor(), {2}, {2}, {huge}));
    EXPECT_FALSE(init(pooling, in.tensor(), {2}, {2}, {0}, {huge}));
  }
  EXPECT_FALSE(init(pooling, in.tensor(), {}));
  EXPECT_FALSE(init(pooling, in.tensor(), {2, 2, 2}));
  EXPECT_FALSE(init(pooling, in.tensor(), {5}));
  EXPECT_FALSE(init(pooling, in.tensor(), {2}, {2}, {2}));
  OwnedTensor<float> flat({4, 4}), empty({1, 0, 4});
  EXPECT_FALSE(init(pooling, flat.tensor(), {2}));
  EXPECT_FALSE(init(pooling, empty.tensor(), {2}));
}

TEST(PlanesTest, EachPlaneOnce) {
  for (const std::vector<uint8_t>& order : {std::vector<uint8_t>{0, 1, 2, 3}, {0, 2, 3, 1}}) {
    OwnedTensor<Half> in({2, 3, 4, 5}, order);
    OwnedTensor<float> out({2, 3, 4, 5});
    const ConstStridedView view(in.tensor());
    const std::vector<int64_t> offsets = testing::offsets_of(view);
    for (size_t i = 0; i < offsets.size(); ++i) {
      in.data()[offsets[i] / 2] = static_cast<Half>(static_cast<float>(i));
    }
    for_each_plane<float>(in.tensor(), out.tensor(), 1, [](const auto& source, const auto& target) {
      for (int64_t y = 0; y < 4; ++y) {
        for (int64_t x = 0; x < 5; ++x) {
          target.store(y, x, source.load(y, x) + 1);
        }
      }
    });
    for (int i = 0; i < 120; ++i) {
      EXPECT_EQ(out.data()[i], static_cast<float>(i + 1));
    }
  }
}

TEST(PlanesTest, ThreeDimensionsAndNone) {
  OwnedTensor<int> three({3, 2, 2}), none({0, 3, 2, 2});
  const InputPlanes<int> planes{ConstStridedView(three.tensor())};
  EXPECT_EQ(planes.count(), 3);
  EXPECT_TRUE(planes[2].has_adjacent_rows(2));
  EXPECT_EQ(&planes[2].at(0, 3), three.data() + 11);
  for_each_plane<int>(none.tensor(), none.tensor(), 1, [](const auto&, const auto&) { FAIL(); });
}

TEST(AveragePoolTest, WindowsOfEveryDimOrder) {
  for (const std::vector<uint8_t>& order : {std::vector<uint8_t>{0, 1, 2, 3}, {0, 2, 3, 1}}) {
    // More channels than a block has elements.
    OwnedTensor<float> in({2, 300, 3, 4}, order), out({2, 300, 2, 2}, order);
    const std::vector<int64_t> from = testing::offsets_of(ConstStridedView(in.tensor()));
    for (size_t i = 0; i < from.size(); ++i) {
      in.data()[from[i] / 4] = static_cast<float>(i);
    }
    average_windows<float>(
        in.tensor(), out.tensor(), 4, [](int64_t i) { return Window{i, i + 2}; },
        [](int64_t j) { return Window{2 * j, 2 * j + 2}; },
        [](float sum, int64_t i, int64_t j) { return sum / 4 + static_cast<float>(10 * i + j); });
    const std::vector<int64_t> to = testing::offsets_of(ConstStridedView(out.tensor()));
    for (int64_t i = 0; i < static_cast<int64_t>(to.size()); ++i) {
      const int64_t plane = i / 4, y = i / 2 % 2, x = i % 2;
      const double first = static_cast<double>(plane * 12 + y * 4 + 2 * x);
      ASSERT_EQ(out.data()[to[i] / 4], first + 2.5 + static_cast<double>(10 * y + x));
    }
  }
}

/// Input element 2 * i with weight 1, and the next element with weight 1/2, for output element i.
struct TestWeights {
  int64_t first = 0;

  TestWeights() = default;
  TestWeights(const Upsampling&, int64_t, bool, int64_t i) : first(2 * i) {}

  int64_t begin() const { return first; }
  int64_t end() const { return first + 2; }

  template <typename Visit>
  void for_each(const Visit& visit) const {
    visit(first, 1.0f);
    visit(first + 1, 0.5f);
  }
};

TEST(ResamplingTest, WeightsRowsAndColumns) {
  // More columns than a block has elements, in the input and in the output.
  OwnedTensor<float> in({1, 2, 4, 1200}), out({1, 2, 2, 600});
  std::iota(in.data(), in.data() + in.numel(), 0.0f);
  Upsampling upsampling;
  const Ints size = {2, 600};
  ASSERT_TRUE(upsampling.init(in.tensor(), list(size), std::nullopt));
  resample<float, TestWeights>(in.tensor(), upsampling, false, 4, [](float sum) { return -sum; }, out.tensor());
  for (int i = 0; i < 2400; ++i) {
    const int plane = i / 1200, y = 2 * (i / 600 % 2), x = 2 * (i % 600);
    const auto at = [&](int row, int column) { return in.data()[(plane * 4 + row) * 1200 + column]; };
    const float above = at(y, x) + 0.5f * at(y, x + 1), below = at(y + 1, x) + 0.5f * at(y + 1, x + 1);
    ASSERT_EQ(out.data()[i], -(above + 0.5f * below));
  }
}

TEST(PixelBlocksTest, ChannelsAndPixelsAreTheSameBlocks) {
  OwnedTensor<int> channels({8, 3, 2}), pixels({2, 6, 4});
  const ConstStridedView of_channels = blocks_of_channels(ConstStridedView(channels.tensor()), 2);
  const ConstStridedView of_pixels = blocks_of_pixels(ConstStridedView(pixels.tensor()), 2);
  for (int64_t d = 0; d < 5; ++d) {
    EXPECT_EQ(of_channels.sizes[d], of_pixels.sizes[d]);
  }
  // Channel 5 is row 0, column 1 of the blocks of channel 1. Its pixel (2, 1) is at (4, 3) of the blocks.
  const int64_t index[] = {1, 0, 1, 2, 1};
  int64_t channel_offset = 0, pixel_offset = 0;
  for (int64_t d = 0; d < 5; ++d) {
    channel_offset += index[d] * of_channels.strides[d];
    pixel_offset += index[d] * of_pixels.strides[d];
  }
  EXPECT_EQ(channel_offset, 5 * 6 + 2 * 2 + 1);
  EXPECT_EQ(pixel_offset, 1 * 24 + 4 * 4 + 3);
}

TEST(PixelBlocksTest, RefusesSidesThatOverflow) {
  OwnedTensor<int> in({4, 2, 2}), flat({4, 4}), deep(std::vector<int>(15, 1));
  EXPECT_TRUE(can_be_blocks(in.tensor(), 2));
  for (const int64_t side : {int64_t{0}, int64_t{-1}, int64_t{1} << 32, INT64_MAX}) {
    EXPECT_FALSE(can_be_blocks(in.tensor(), side));
  }
  EXPECT_FALSE(can_be_blocks(flat.tensor(), 2));
  EXPECT_FALSE(can_be_blocks(deep.tensor(), 2));
}

TEST(UpsamplingTest, StepsBySizesOrScales) {
  OwnedTensor<float> in({1, 1, 4, 6});
  Upsampling upsampling;
  const Ints size = {8, 3};
  ASSERT_TRUE(upsampling.init(in.tensor(), list(size), std::nullopt));
  EXPECT_EQ(upsampling.step<double>(0), 0.5);
  EXPECT_EQ(upsampling.step<double>(1), 2);
  EXPECT_EQ(upsampling.aligned_step<double>(1), 2.5);
  const double scales[] = {1.6, 0.5};
  ASSERT_TRUE(upsampling.init(in.tensor(), std::nullopt, ArrayRef<double>(scales, 2)));
  EXPECT_EQ(upsampling.out_size[0], 6);
  EXPECT_EQ(upsampling.out_size[1], 3);
  EXPECT_EQ(upsampling.step<double>(0), 1 / 1.6);
}

TEST(UpsamplingTest, RefusesWhatIsNoSize) {
  OwnedTensor<float> in({1, 1, 4, 6});
  Upsampling upsampling;
  for (const double scale : {0.0, -1.0, 1e300, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const double scales[] = {1, scale};
    EXPECT_FALSE(upsampling.init(in.tensor(), std::nullopt, ArrayRef<double>(scales, 2))) << scale;
  }
  for (const Ints& size : {Ints{0, 3}, Ints{3, -1}, Ints{3}, Ints{3, 3, 3}}) {
    EXPECT_FALSE(upsampling.init(in.tensor(), list(size), std::nullopt));
  }
  EXPECT_FALSE(upsampling.init(in.tensor(), std::nullopt, std::nullopt));
  const Ints huge = {3, INT64_MAX};
  EXPECT_FALSE(upsampling.init(in.tensor(), list(huge), std::nullopt) && upsampling.resize(in.tensor(), in.tensor()));
}

Error pad(Tensor& in, const Ints& padding, PaddingMode mode, Tensor& out) {
  KernelRuntimeContext context;
  pad_out(context, in, list(padding), static_cast<int64_t>(padding.size() / 2), mode, out);
  return context.failure_state();
}

TEST(PaddingTest, RepeatsOrReflects) {
  OwnedTensor<int> in({1, 4}), out({1, 9}), narrow({1, 2});
  std::iota(in.data(), in.data() + 4, 0);
  EXPECT_EQ(pad(in.tensor(), {2, 3}, PaddingMode::kReplication, out.tensor()), Error::Ok);
  EXPECT_EQ(out.values(), std::vector<int>({0, 0, 0, 1, 2, 3, 3, 3, 3}));
  EXPECT_EQ(pad(in.tensor(), {2, 3}, PaddingMode::kReflection, out.tensor()), Error::Ok);
  EXPECT_EQ(out.values(), std::vector<int>({2, 1, 0, 1, 2, 3, 2, 1, 0}));
  EXPECT_EQ(pad(in.tensor(), {-1, -1}, PaddingMode::kReflection, narrow.tensor()), Error::Ok);
  EXPECT_EQ(narrow.values(), std::vector<int>({1, 2}));
}

TEST(PaddingTest, RefusesWhatDoesNotExist) {
  OwnedTensor<int> in({1, 4}), out({1, 8});
  EXPECT_EQ(pad(in.tensor(), {4, 0}, PaddingMode::kReflection, out.tensor()), Error::InvalidArgument);
  for (const int64_t huge : {INT64_MAX, INT64_MIN, int64_t{1} << 40, int64_t{-5}}) {
    EXPECT_EQ(pad(in.tensor(), {huge, 0}, PaddingMode::kReplication, out.tensor()), Error::InvalidArgument) << huge;
    EXPECT_EQ(pad(in.tensor(), {huge, huge}, PaddingMode::kReflection, out.tensor()), Error::InvalidArgument) << huge;
  }
  OwnedTensor<int> empty({1, 0});
  EXPECT_EQ(pad(empty.tensor(), {4, 4}, PaddingMode::kReplication, out.tensor()), Error::InvalidArgument);
}

TEST(MappedCopyTest, EachDimensionByItself) {
  OwnedTensor<int16_t> in({3, 4}), out({300, 7}, {1, 0});
  std::iota(in.data(), in.data() + 12, 0);
  const ConstStridedView source(in.tensor());
  const StridedView target(out.tensor());
  copy_mapped(source, target, [](int64_t d, int64_t i) { return d == 0 ? i % 3 : 3 - i % 4; });
  for (int64_t i = 0; i < 300; ++i) {
    for (int64_t j = 0; j < 7; ++j) {
      ASSERT_EQ(out.data()[j * 300 + i], in.data()[i % 3 * 4 + 3 - j % 4]);
    }
  }
  // Reversed rows, with more elements than a block.
  OwnedTensor<int> forward({2, 600}), backward({2, 600});
  std::iota(forward.data(), forward.data() + 1200, 0);
  copy_mapped(ConstStridedView(forward.tensor()), StridedView(backward.tensor()),
              [](int64_t d, int64_t i) { return d == 0 ? i : 599 - i; });
  for (int i = 0; i < 1200; ++i) {
    ASSERT_EQ(backward.data()[i], i / 600 * 600 + 599 - i % 600);
  }
  OwnedTensor<int16_t> nothing({0, 7});
  copy_mapped(source, StridedView(nothing.tensor()), [](int64_t, int64_t) -> int64_t { return 0; });
}

}  // namespace
}  // namespace rules_executorch::kernels
