// Compares integer_product.h with plain sums, for many shapes and for the largest products. Sums below 2^24 are exact
// in floats.

#include "kernels/gemm/integer_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace rules_executorch::kernels {
namespace {

constexpr int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// A product of a matrix of bytes [rows, k] and weights [columns, k].
class Product {
 public:
  /// `next_row` and `next_weight` return the elements.
  template <typename NextRow, typename NextWeight>
  Product(int64_t rows, int64_t columns, int64_t k, uint8_t row_bits, NextRow next_row, NextWeight next_weight)
      : rows_(rows), columns_(columns), k_(k), row_bits_(row_bits), row_data_(rows * k), weights_(columns * k) {
    for (auto& element : row_data_) {
      element = static_cast<char>(next_row());
    }
    for (auto& element : weights_) {
      element = static_cast<int8_t>(next_weight());
    }
  }

  std::vector<float> computed() const {
    const int64_t panel_stride = up(k_, kPanelDepth) * kPanelDepth * kPanelColumns;
    std::vector<char> panels(up(columns_, kPanelColumns) * panel_stride);
    for (int64_t n = 0; n < columns_; ++n) {
      for (int64_t i = 0; i < k_; ++i) {
        panels[n / kPanelColumns * panel_stride + i / kPanelDepth * kPanelDepth * kPanelColumns +
               n % kPanelColumns * kPanelDepth + i % kPanelDepth] = static_cast<char>(weights_[n * k_ + i]);
      }
    }
    const std::vector<float> ones(columns_, 1.0f);
    const std::vector<float> zeros(columns_, 0.0f);
    SumConversion conversion{};
    conversion.scale = ones.data();
    conversion.offset = zeros.data();
    conversion.type = ScalarType::Float;
    std::vector<float> out(rows_ * columns_);
    // A call computes a block of panels.
    for (int64_t n = 0; n < columns_; n += kBlockColumns) {
      multiply_by_weights({row_data_.data(), k_, rows_, row_bits_, panels.data() + n / kPanelColumns * panel_stride,
                           panel_stride, std::min(kBlockColumns, columns_ - n), k_, conversion,
                           reinterpret_cast<char*>(out.data() + n), columns_ * static_cast<int64_t>(sizeof(float))},
                          n);
    }
    return out;
  }

  std::vector<float> expected() const {
    std::vector<float> out;
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t n = 0; n < columns_; ++n) {
        int64_t sum = 0;
        for (int64_t i = 0; i < k_; ++i) {
          // Kernels add the offset of 128 of a Char to their offsets.
          sum += static_cast<uint8_t>(row_data_[row * k_ + i] ^ row_bits_) * int64_t{weights_[n * k_ + i]};
        }
        out.push_back(static_cast<float>(sum));
      }
    }
    return out;
  }

 private:
  int64_t rows_;
  int64_t columns_;
  int64_t k_;
  uint8_t row_bits_;
  std::vector<char> row_data_;
  std::vector<int8_t> weights_;
};

constexpr uint8_t kRowBits[] = {0, 0x80};

TEST(IntegerProductTest, Shapes) {
  std::mt19937 random(0);
  const auto any = [&] { return random(); };
  for (int64_t k = 1; k <= 70; ++k) {
    for (int64_t columns : {1, 15, 16, 17, 64, 70}) {
      for (int64_t rows : {1, 2, 3, 5, 8, 13}) {
        const Product product(rows, columns, k, kRowBits[k % 2], any, any);
        ASSERT_EQ(product.computed(), product.expected()) << rows << ", " << columns << ", " << k;
      }
    }
  }
}

TEST(IntegerProductTest, EveryRowCount) {
  std::mt19937 random(1);
  const auto any = [&] { return random(); };
  for (int64_t rows = 1; rows <= 40; ++rows) {
    const Product product(rows, 20, 36, 0, any, any);
    ASSERT_EQ(product.computed(), product.expected()) << rows;
  }
}

TEST(IntegerProductTest, LongRows) {
  std::mt19937 random(2);
  const auto any = [&] { return random(); };
  for (int64_t k : {1535, 1536, 1537, 4099}) {
    const Product product(3, 20, k, 0x80, any, any);
    ASSERT_EQ(product.computed(), product.expected()) << k;
  }
}

// 16-bit sums of two products can be too small for these.
TEST(IntegerProductTest, LargestProducts) {
  for (int byte : {0, 1, 127, 128, 254, 255}) {
    for (int weight : {-128, -127, 127}) {
      for (uint8_t row_bits : kRowBits) {
        for (int64_t k : {4, 8, 16, 35, 64}) {
          const Product product(5, 33, k, row_bits, [=] { return byte; }, [=] { return weight; });
          ASSERT_EQ(product.computed(), product.expected()) << byte << ", " << weight << ", " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rules_executorch::kernels
