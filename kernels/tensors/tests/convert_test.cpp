#include "kernels/tensors/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/math/bits.h"
#include "kernels/math/reduced_float.h"
#include "kernels/parallel/block.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {
namespace {

/// Whether two floats are the same number, or both are NaN.
bool same(float a, float b) { return std::memcmp(&a, &b, sizeof(a)) == 0 || (std::isnan(a) && std::isnan(b)); }

TEST(ReducedFloatTest, EveryHalfIsTheFloatThatItsFieldsSay) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double mantissa = bits & 1023;
    const double magnitude = exponent == 31  ? (mantissa == 0 ? INFINITY : NAN)
                             : exponent == 0 ? std::ldexp(mantissa, -24)
                                             : std::ldexp(1024 + mantissa, exponent - 25);
    const float expected = static_cast<float>(bits >> 15 != 0 ? -magnitude : magnitude);
    ASSERT_TRUE(same(half_to_float(static_cast<uint16_t>(bits)), expected)) << bits;
  }
}

TEST(ReducedFloatTest, FloatsAreRoundedToTheNearestHalf) {
  // Each Half, the midpoint between it and the next Half, and the floats next to the midpoint.
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float lower = half_to_float(static_cast<uint16_t>(bits));
    const float upper = half_to_float(static_cast<uint16_t>(bits + 1));
    const float middle = (lower + upper) / 2;
    ASSERT_EQ(float_to_half(lower), bits);
    ASSERT_EQ(float_to_half(-lower), bits | 0x8000);
    ASSERT_EQ(float_to_half(std::nextafter(middle, lower)), bits);
    ASSERT_EQ(float_to_half(std::nextafter(middle, upper)), bits + 1);
    ASSERT_EQ(float_to_half(middle), bits + (bits & 1));
  }
  EXPECT_EQ(float_to_half(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(INFINITY), 0x7c00);
  EXPECT_TRUE(std::isnan(half_to_float(float_to_half(NAN))));
}

TEST(ReducedFloatTest, FloatsAreRoundedToTheNearestBFloat16) {
  for (uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    const uint32_t middle = bits << 16 | 0x8000;
    ASSERT_EQ(float_to_bfloat16(float_of(bits << 16)), bits);
    ASSERT_EQ(float_to_bfloat16(float_of(middle - 1)), bits);
    ASSERT_EQ(float_to_bfloat16(float_of(middle)), bits + (bits & 1));
    ASSERT_EQ(float_to_bfloat16(float_of(middle + 1)), bits + 1);
  }
  EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(NAN))));
}

template <typename From>
void expect_defined_integers() {
  for (From value : {From(INFINITY), From(-INFINITY), From(NAN), From(1e30), From(-1e30)}) {
    EXPECT_EQ((convert_value<int64_t, From>(value)), INT64_MIN) << value;
    EXPECT_EQ((convert_value<int32_t, From>(value)), INT32_MIN) << value;
    EXPECT_EQ((convert_value<int8_t, From>(value)), 0) << value;
    EXPECT_EQ((convert_value<uint8_t, From>(value)), 0) << value;
  }
  EXPECT_EQ((convert_value<int64_t, From>(From(-0x1p63))), INT64_MIN);
  EXPECT_EQ((convert_value<int32_t, From>(From(-2.75))), -2);
  EXPECT_EQ((convert_value<uint8_t, From>(From(-1))), 255);
  EXPECT_EQ((convert_value<int8_t, From>(From(300))), 44);
  EXPECT_EQ((convert_value<uint64_t, From>(From(0x1p63))), uint64_t{1} << 63);
  EXPECT_EQ((convert_value<uint64_t, From>(From(-1))), UINT64_MAX);
}

// tools/sanitize tests that none of these conversions is undefined behavior.
TEST(ConvertTest, IntegersOfFloatsThatTheyDoNotHold) {
  expect_defined_integers<float>();
  expect_defined_integers<double>();
}

/// Writes numbers that all dtypes can represent as elements of `To`, and reads them back, with the given strides.
template <typename From, typename To>
void round_trip(int64_t from_step, int64_t to_step) {
  const int64_t n = 45;
  std::vector<From> from(n * from_step + 1);
  std::vector<To> to(n * to_step + 1);
  for (int64_t i = 0; i < n; ++i) {
    from[i * from_step] = static_cast<From>(static_cast<float>(i % 2));
  }
  const ScalarType from_type = CppTypeToScalarType<From>::value;
  const ScalarType to_type = CppTypeToScalarType<To>::value;
  Block block;
  load_block(from_type, from.data(), from_step * sizeof(From), to_type, block.data, n);
  store_block(to_type, block.data, to_type, to.data(), to_step * sizeof(To), n);
  std::vector<From> back(n * from_step + 1);
  load_block(to_type, to.data(), to_step * sizeof(To), to_type, block.data, n);
  store_block(to_type, block.data, from_type, back.data(), from_step * sizeof(From), n);
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(static_cast<float>(to[i * to_step]), static_cast<float>(i % 2));
    ASSERT_EQ(static_cast<float>(back[i * from_step]), static_cast<float>(i % 2));
  }
}

template <typename From>
void round_trips() {
#define TO(ctype, name)               \
  for (int64_t step : {1, 3}) {       \
    round_trip<From, ctype>(1, step); \
    round_trip<From, ctype>(step, 1); \
  }
  ET_FORALL_REAL_TYPES_AND2(Half, BFloat16, TO)
  KERNELS_FORALL_UNSIGNED_TYPES(TO)
#undef TO
}

TEST(ConvertTest, BlocksOfEveryPairOfDtypes) {
#define FROM(ctype, name) round_trips<ctype>();
  ET_FORALL_REAL_TYPES_AND2(Half, BFloat16, FROM)
  KERNELS_FORALL_UNSIGNED_TYPES(FROM)
#undef FROM
}

TEST(ConvertTest, EveryHalfInBlocks) {
  // Covers the conversion of blocks with instructions that only some processors have.
  std::vector<uint16_t> halves(0x10000);
  std::iota(halves.begin(), halves.end(), uint16_t{0});
  std::vector<float> floats(halves.size());
  std::vector<uint16_t> back(halves.size());
  convert_elements(ScalarType::Half, halves.data(), ScalarType::Float, floats.data(), 0x10000);
  convert_elements(ScalarType::Float, floats.data(), ScalarType::Half, back.data(), 0x10000);
  for (size_t i = 0; i < halves.size(); ++i) {
    ASSERT_TRUE(same(floats[i], half_to_float(halves[i]))) << i;
    ASSERT_TRUE(back[i] == halves[i] || std::isnan(floats[i])) << i;
  }
}

TEST(ConvertTest, FloatsInBlocksAreRoundedToTheNearestHalf) {
  std::vector<float> floats;
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float lower = half_to_float(static_cast<uint16_t>(bits));
    const float upper = half_to_float(static_cast<uint16_t>(bits + 1));
    floats.insert(floats.end(), {(lower + upper) / 2, -std::nextafter((lower + upper) / 2, upper)});
  }
  std::vector<uint16_t> halves(floats.size());
  convert_elements(ScalarType::Float, floats.data(), ScalarType::Half, halves.data(), floats.size());
  for (size_t i = 0; i < floats.size(); ++i) {
    ASSERT_EQ(halves[i], float_to_half(floats[i]));
  }
}

TEST(ConvertTest, StrideZeroRepeatsAnElement) {
  const float element = 2.5f;
  Block block;
  load_block(ScalarType::Float, &element, 0, ScalarType::Double, block.data, kBlockSize);
  double values[kBlockSize];
  std::memcpy(values, block.data, sizeof(values));
  for (double value : values) {
    ASSERT_EQ(value, 2.5);
  }
}

using Complex = ::executorch::aten::complex<double>;

/// Writes the numbers 0, 1, 0, ... of dtype `From`, `step` elements apart, to a whole block of complex numbers.
template <typename From, typename To>
void make_complex(int64_t step) {
  std::vector<From> from(kBlockSize * step + 1);
  for (int64_t i = 0; i < kBlockSize; ++i) {
    from[i * step] = static_cast<From>(static_cast<float>(i % 2));
  }
  std::vector<To> to(kBlockSize);
  std::vector<Complex> back(kBlockSize * step + 1);
  const ScalarType to_type = CppTypeToScalarType<To>::value;
  load_block(CppTypeToScalarType<From>::value, from.data(), step * sizeof(From), to_type, to.data(), kBlockSize);
  store_block(to_type, to.data(), ScalarType::ComplexDouble, back.data(), step * sizeof(Complex), kBlockSize);
  for (int64_t i = 0; i < kBlockSize; ++i) {
    ASSERT_EQ(back[i * step], Complex(i % 2));
  }
}

TEST(ConvertTest, EveryDtypeIsARealPart) {
#define FROM(ctype, name)                                          \
  for (int64_t step : {1, 3}) {                                    \
    make_complex<ctype, ::executorch::aten::complex<Half>>(step);  \
    make_complex<ctype, ::executorch::aten::complex<float>>(step); \
    make_complex<ctype, Complex>(step);                            \
  }
  ET_FORALL_REAL_TYPES_AND2(Half, BFloat16, FROM)
  KERNELS_FORALL_UNSIGNED_TYPES(FROM)
#undef FROM
}

TEST(ConvertTest, ComplexNumbersKeepBothParts) {
  std::vector<Complex> from(3 * kBlockSize);
  for (int64_t i = 0; i < kBlockSize; ++i) {
    from[3 * i] = Complex(i, -2.5);
  }
  std::vector<::executorch::aten::complex<float>> to(kBlockSize);
  load_block(ScalarType::ComplexDouble, from.data(), 3 * sizeof(Complex), ScalarType::ComplexFloat, to.data(),
             kBlockSize);
  std::vector<Complex> back(3 * kBlockSize);
  store_block(ScalarType::ComplexFloat, to.data(), ScalarType::ComplexDouble, back.data(), 3 * sizeof(Complex),
              kBlockSize);
  EXPECT_EQ(to[7].real(), 7);
  EXPECT_EQ(to[7].imag(), -2.5f);
  EXPECT_EQ(from, back);
}

TEST(ConvertTest, LargeUnsignedIntegers) {
  const uint64_t most = ~uint64_t{0};
  double real = 0;
  convert_elements(ScalarType::UInt64, &most, ScalarType::Double, &real, 1);
  EXPECT_EQ(real, 0x1p64);
  int64_t integer = 0;
  convert_elements(ScalarType::UInt64, &most, ScalarType::Long, &integer, 1);
  EXPECT_EQ(integer, -1);
  const double reals[] = {0x1.8p63, -1.5, 4294967295.75};
  uint64_t wide[3];
  convert_elements(ScalarType::Double, reals, ScalarType::UInt64, wide, 3);
  EXPECT_EQ(wide[0], uint64_t{3} << 62);
  EXPECT_EQ(wide[1], most);
  EXPECT_EQ(wide[2], 4294967295u);
  uint32_t narrow[3];
  convert_elements(ScalarType::UInt64, wide, ScalarType::UInt32, narrow, 3);
  EXPECT_EQ(narrow[0], 0u);
  EXPECT_EQ(narrow[1], 4294967295u);
  EXPECT_EQ(narrow[2], 4294967295u);
}

TEST(ConvertTest, IntegersWrapAround) {
  const int64_t wide[] = {-1, 256, 300, -129};
  uint8_t bytes[4];
  convert_elements(ScalarType::Long, wide, ScalarType::Byte, bytes, 4);
  EXPECT_EQ(bytes[0], 255);
  EXPECT_EQ(bytes[1], 0);
  EXPECT_EQ(bytes[2], 44);
  EXPECT_EQ(bytes[3], 127);
}

}  // namespace
}  // namespace rules_executorch::kernels
