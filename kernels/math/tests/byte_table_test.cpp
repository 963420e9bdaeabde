// Compares lookups in vectors with a lookup of each byte, and checks that the bytes between rows stay.

#include "kernels/math/byte_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace rules_executorch::kernels {
namespace {

std::vector<uint8_t> random_bytes(int64_t n, std::mt19937& random) {
  std::vector<uint8_t> bytes(static_cast<size_t>(n));
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(random());
  }
  return bytes;
}

TEST(ByteTable, RowsOfAllLengths) {
  std::mt19937 random;
  for (const int64_t rows : {1, 2, 3, 7}) {
    for (int64_t n = 0; n <= 320; ++n) {
      const std::vector<uint8_t> table = random_bytes(256, random);
      const int64_t stride = n + n % 5;
      const std::vector<uint8_t> in = random_bytes(rows * stride, random);
      std::vector<uint8_t> out = in;
      look_up_rows(table.data(), rows, n, stride, out.data());
      for (int64_t i = 0; i < rows * stride; ++i) {
        const uint8_t byte = in[static_cast<size_t>(i)];
        ASSERT_EQ(out[static_cast<size_t>(i)], i % stride < n ? table[byte] : byte) << rows << "x" << n << " at " << i;
      }
    }
  }
}

TEST(ByteTable, EachByteToAnotherPlace) {
  std::mt19937 random;
  const std::vector<uint8_t> table = random_bytes(256, random);
  std::vector<uint8_t> in(4096);
  for (size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<uint8_t>(i * 37);
  }
  std::vector<uint8_t> out(in.size());
  look_up_bytes(table.data(), in.data(), static_cast<int64_t>(in.size()), out.data());
  for (size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(out[i], table[in[i]]) << i;
  }
}

}  // namespace
}  // namespace rules_executorch::kernels
