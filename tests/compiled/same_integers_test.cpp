// Quantized programs for size and for speed give the same bytes.

#include <cstdint>
#include <cstring>
#include <random>

#include "gtest/gtest.h"
#include "tests/compiled/quantized.h"
#include "tests/compiled/quantized_blocks.h"
#include "tests/compiled/quantized_blocks_small.h"
#include "tests/compiled/quantized_small.h"

namespace {

alignas(64) uint8_t scratch[1 << 20];

template <typename ForSpeed, typename ForSize>
void expect_same_outputs() {
  static typename ForSpeed::Memory memory;
  static typename ForSize::Memory small_memory;
  ForSpeed for_speed(memory, scratch, sizeof(scratch));
  ForSize for_size(small_memory, nullptr, 0);
  std::mt19937 random;
  std::normal_distribution<float> normal(0, 2);
  for (int sample = 0; sample < 200; ++sample) {
    for (size_t i = 0; i < ForSpeed::kInput0Bytes / sizeof(float); ++i) {
      for_speed.input0()[i] = for_size.input0()[i] = normal(random);
    }
    ASSERT_TRUE(for_speed.run().ok());
    ASSERT_TRUE(for_size.run().ok());
    ASSERT_EQ(std::memcmp(for_speed.output0(), for_size.output0(), ForSpeed::kOutput0Bytes), 0) << "sample " << sample;
  }
}

TEST(SameIntegersTest, Convolutions) { expect_same_outputs<quantized::Forward, quantized_small::Forward>(); }

TEST(SameIntegersTest, DepthwiseLayersAndResiduals) {
  expect_same_outputs<quantized_blocks::Forward, quantized_blocks_small::Forward>();
}

}  // namespace
