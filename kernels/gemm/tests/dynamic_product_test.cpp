// Compares dynamic_product.h with plain sums, for many shapes and for the largest products. With integers as scales,
// and sums below 2^24, all results are exact in floats.

#include "kernels/gemm/dynamic_product.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "kernels/simd/simd.h"

namespace rules_executorch::kernels {
namespace {

constexpr int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b * b; }

/// A product of a matrix of bytes [rows, k] and weights of `bits` bits [columns, k], in groups.
class Product {
 public:
  /// `next_byte` and `next_weight` return the elements.
  template <typename NextByte, typename NextWeight>
  Product(int64_t rows, int64_t columns, int64_t groups, int64_t group_size, int bits, NextByte next_byte,
          NextWeight next_weight)
      : rows_(rows), columns_(columns), groups_(groups), group_size_(group_size), bits_(bits) {
    for (int64_t i = 0; i < rows * groups * group_size; ++i) {
      bytes_.push_back(static_cast<uint8_t>(next_byte()));
    }
    for (int64_t i = 0; i < columns * groups * group_size; ++i) {
      weights_.push_back(static_cast<int8_t>(next_weight()));
    }
  }

  std::vector<float> computed() const {
    const int64_t k = groups_ * group_size_;
    const int64_t panel_stride = k * kBytePanelColumns * bits_ / 8;
    const int64_t padded = up(columns_, kBytePanelColumns);
    std::vector<uint8_t> rows;
    std::vector<uint8_t> panels(padded / kBytePanelColumns * panel_stride);
    std::vector<float> scales(padded * groups_);
    std::vector<float> offsets;
    std::vector<float> bias;
    std::vector<RowParameters> parameters;
    for (const uint8_t byte : bytes_) {
      rows.push_back(byte ^ simd::kFlippedBits);
    }
    for (int64_t row = 0; row < rows_; ++row) {
      parameters.push_back({row_scale(row), zero_point(row) - simd::kFlippedBits});
    }
    for (int64_t n = 0; n < columns_; ++n) {
      float offset = 0;
      for (int64_t i = 0; i < k; ++i) {
        const int64_t block = i / kBytePanelDepth * bits_ / 8;
        const int half = bits_ == 4 ? static_cast<int>(i / kBytePanelDepth % 2) : 0;
        const uint8_t weight = static_cast<uint8_t>(weights_[n * k + i]) & (bits_ == 4 ? 15 : 255);
        panels[n / kBytePanelColumns * panel_stride +
               (block * kBytePanelColumns + n % kBytePanelColumns) * kBytePanelDepth + i % kBytePanelDepth] |=
            weight << 4 * half;
        offset += weights_[n * k + i] * scale(n, i / group_size_);
      }
      for (int64_t g = 0; g < groups_; ++g) {
        scales[(n / kBytePanelColumns * groups_ + g) * kBytePanelColumns + n % kBytePanelColumns] = scale(n, g);
      }
      offsets.push_back(offset);
      bias.push_back(static_cast<float>(n));
    }
    std::vector<float> out(rows_ * columns_);
    multiply_quantized_rows({rows.data(), k, parameters.data(), reinterpret_cast<const char*>(panels.data()),
                             panel_stride, bits_ == 4, scales.data(), offsets.data(), bias.data(),
                             reinterpret_cast<char*>(out.data()), ScalarType::Float, rows_, columns_, groups_,
                             group_size_});
    return out;
  }

  std::vector<float> expected() const {
    const int64_t k = groups_ * group_size_;
    std::vector<float> out;
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t n = 0; n < columns_; ++n) {
        double sum = 0;
        for (int64_t i = 0; i < k; ++i) {
          sum += (bytes_[row * k + i] - zero_point(row)) * double{scale(n, i / group_size_)} * weights_[n * k + i];
        }
        out.push_back(static_cast<float>(sum * row_scale(row) + static_cast<double>(n)));
      }
    }
    return out;
  }

 private:
  static float scale(int64_t column, int64_t group) { return static_cast<float>(1 + (column + group) % 2); }
  static float row_scale(int64_t row) { return static_cast<float>(1 + row % 2); }
  static float zero_point(int64_t row) { return static_cast<float>(row * 37 % 256); }

  int64_t rows_;
  int64_t columns_;
  int64_t groups_;
  int64_t group_size_;
  int bits_;
  std::vector<uint8_t> bytes_;
  std::vector<int8_t> weights_;
};

TEST(DynamicProductTest, Shapes) {
  std::mt19937 random(0);
  const auto any = [&] { return random(); };
  const auto nibble = [&] { return static_cast<int>(random() % 16) - 8; };
  for (int64_t group_size : {8, 16, 24, 32, 40, 72, 136}) {
    for (int64_t groups : {1, 3}) {
      for (int64_t columns : {1, 15, 16, 17, 64, 70, 130}) {
        for (int64_t rows : {1, 2, 3, 5, 8, 13, 67}) {
          const Product bytes(rows, columns, groups, group_size, 8, any, nibble);
          ASSERT_EQ(bytes.computed(), bytes.expected()) << rows << ", " << columns << ", " << groups << group_size;
          const Product nibbles(rows, columns, groups, group_size, 4, any, nibble);
          ASSERT_EQ(nibbles.computed(), nibbles.expected()) << rows << ", " << columns << ", " << groups << group_size;
        }
      }
    }
  }
}

// 16-bit sums can be too small for these.
TEST(DynamicProductTest, LargestProducts) {
  for (int byte : {0, 1, 127, 128, 254, 255}) {
    for (int64_t k : {8, 16, 64, 136, 256}) {
      for (int64_t rows : {1, 6}) {
        for (int weight : {-128, 127}) {
          const Product product(rows, 33, 1, k, 8, [=] { return byte; }, [=] { return weight; });
          ASSERT_EQ(product.computed(), product.expected()) << byte << ", " << weight << ", " << k;
        }
        for (int weight : {-8, 7}) {
          const Product product(rows, 33, 1, k, 4, [=] { return byte; }, [=] { return weight; });
          ASSERT_EQ(product.computed(), product.expected()) << byte << ", " << weight << ", " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rules_executorch::kernels
