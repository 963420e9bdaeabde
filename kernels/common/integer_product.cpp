#include "kernels/common/integer_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/common/byte_table.h"
#include "kernels/common/vectorize.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rules_executorch::kernels {

namespace {

/// What a tile reads: rows and panels of a product, from some element on.
struct TileOperands {
  const char* rows_data;
  int64_t row_stride;
  uint32_t row_bits;
  const char* panels;
  int64_t panel_stride;
  int64_t k;
};

/// The 4 elements of a row that are multiplied next, the weight's zeros behind the last one.
KERNELS_ALWAYS_INLINE inline uint32_t load_group(const char* elements, int64_t n) {
  uint32_t group = 0;
  std::memcpy(&group, elements, static_cast<size_t>(n));
  return group;
}

constexpr int64_t kPanelBytes = kPanelColumns * kPanelDepth;

#if defined(__AVX512VNNI__)

// 24 of the 32 registers hold sums.
constexpr int kTileRows = 8;
constexpr int kTilePanels = kPanels;

template <bool kWeightPanels, int kRows, int kPanelCount>
KERNELS_ALWAYS_INLINE inline void add_group(const TileOperands& tile, int64_t p, int64_t n,
                                            __m512i (&totals)[kRows][kPanelCount]) {
  __m512i panels[kPanelCount];
#pragma GCC unroll 4
  for (int j = 0; j < kPanelCount; ++j) {
    panels[j] = _mm512_loadu_si512(tile.panels + j * tile.panel_stride + p * kPanelColumns);
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    const uint32_t group = load_group(tile.rows_data + i * tile.row_stride + p, n) ^ tile.row_bits;
    const __m512i row = _mm512_set1_epi32(static_cast<int32_t>(group));
#pragma GCC unroll 4
    for (int j = 0; j < kPanelCount; ++j) {
      totals[i][j] = kWeightPanels ? _mm512_dpbusd_epi32(totals[i][j], row, panels[j])
                                   : _mm512_dpbusd_epi32(totals[i][j], panels[j], row);
    }
  }
}

template <bool kWeightPanels, int kRows, int kPanelCount>
void compute_tile(const TileOperands& tile, int32_t* sums) {
  __m512i totals[kRows][kPanelCount];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kPanelCount; ++j) {
      totals[i][j] = _mm512_setzero_si512();
    }
  }
  int64_t p = 0;
  for (; p + kPanelDepth <= tile.k; p += kPanelDepth) {
    add_group<kWeightPanels>(tile, p, kPanelDepth, totals);
  }
  if (p < tile.k) {
    add_group<kWeightPanels>(tile, p, tile.k - p, totals);
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kPanelCount; ++j) {
      _mm512_storeu_si512(sums + (i * kPanels + j) * kPanelColumns, totals[i][j]);
    }
  }
}

#elif defined(__x86_64__)

// Bytes become words, whose products are summed in pairs: a column has two sums next to each other, of which the other
// half is added at the end.
#if defined(__AVX2__)

using Words = __m256i;
constexpr int kTileRows = 2;

template <bool kSigned>
KERNELS_ALWAYS_INLINE inline Words load_words(const char* bytes) {
  const __m128i loaded = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  return kSigned ? _mm256_cvtepi8_epi16(loaded) : _mm256_cvtepu8_epi16(loaded);
}

template <bool kSigned>
KERNELS_ALWAYS_INLINE inline Words repeat_words(uint32_t bytes) {
  const __m128i repeated = _mm_set1_epi32(static_cast<int32_t>(bytes));
  return kSigned ? _mm256_cvtepi8_epi16(repeated) : _mm256_cvtepu8_epi16(repeated);
}

KERNELS_ALWAYS_INLINE inline Words add_products(Words sums, Words a, Words b) {
  return _mm256_add_epi32(sums, _mm256_madd_epi16(a, b));
}

#else

using Words = __m128i;
constexpr int kTileRows = 1;

template <bool kSigned>
KERNELS_ALWAYS_INLINE inline Words words_of(__m128i bytes) {
  return kSigned ? _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8) : _mm_unpacklo_epi8(bytes, _mm_setzero_si128());
}

template <bool kSigned>
KERNELS_ALWAYS_INLINE inline Words load_words(const char* bytes) {
  return words_of<kSigned>(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
}

template <bool kSigned>
KERNELS_ALWAYS_INLINE inline Words repeat_words(uint32_t bytes) {
  return words_of<kSigned>(_mm_set1_epi32(static_cast<int32_t>(bytes)));
}

KERNELS_ALWAYS_INLINE inline Words add_products(Words sums, Words a, Words b) {
  return _mm_add_epi32(sums, _mm_madd_epi16(a, b));
}

#endif

constexpr int kTilePanels = 1;
constexpr int kWordBytes = static_cast<int>(sizeof(Words)) / 2;
constexpr int kVectors = static_cast<int>(kPanelBytes) / kWordBytes;

template <bool kWeightPanels, int kRows>
KERNELS_ALWAYS_INLINE inline void add_group(const TileOperands& tile, int64_t p, int64_t n,
                                            Words (&totals)[kRows][kVectors]) {
  Words rows[kRows];
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
    rows[i] = repeat_words<!kWeightPanels>(load_group(tile.rows_data + i * tile.row_stride + p, n) ^ tile.row_bits);
  }
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    const Words panel = load_words<kWeightPanels>(tile.panels + p * kPanelColumns + j * kWordBytes);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      totals[i][j] = add_products(totals[i][j], rows[i], panel);
    }
  }
}

template <bool kWeightPanels, int kRows, int kPanelCount>
void compute_tile(const TileOperands& tile, int32_t* sums) {
  static_assert(kPanelCount == 1, "a panel at a time");
  Words totals[kRows][kVectors] = {};
  int64_t p = 0;
  for (; p + kPanelDepth <= tile.k; p += kPanelDepth) {
    add_group<kWeightPanels>(tile, p, kPanelDepth, totals);
  }
  if (p < tile.k) {
    add_group<kWeightPanels>(tile, p, tile.k - p, totals);
  }
  for (int i = 0; i < kRows; ++i) {
    int32_t halves[2 * kPanelColumns];
    std::memcpy(halves, totals[i], sizeof(halves));
    for (int64_t column = 0; column < kPanelColumns; ++column) {
      sums[i * kPanels * kPanelColumns + column] = halves[2 * column] + halves[2 * column + 1];
    }
  }
}

#else

constexpr int kTileRows = 1;
constexpr int kTilePanels = 1;

template <bool kWeightPanels, int kRows, int kPanelCount>
void compute_tile(const TileOperands& tile, int32_t* sums) {
  static_assert(kRows == 1 && kPanelCount == 1, "a row and a panel at a time");
  int32_t totals[kPanelColumns] = {};
  for (int64_t p = 0; p < tile.k; p += kPanelDepth) {
    const uint32_t group = load_group(tile.rows_data + p, std::min(kPanelDepth, tile.k - p)) ^ tile.row_bits;
    uint8_t row[kPanelDepth];
    std::memcpy(row, &group, sizeof(row));
    const auto* const panel = reinterpret_cast<const uint8_t*>(tile.panels + p * kPanelColumns);
    for (int64_t column = 0; column < kPanelColumns; ++column) {
      for (int64_t i = 0; i < kPanelDepth; ++i) {
        const uint8_t x = kWeightPanels ? row[i] : panel[column * kPanelDepth + i];
        const uint8_t weight = kWeightPanels ? panel[column * kPanelDepth + i] : row[i];
        totals[column] += static_cast<int32_t>(x) * static_cast<int8_t>(weight);
      }
    }
  }
  std::copy_n(totals, kPanelColumns, sums);
}

#endif

/// The sums of a tile: a row's panels are kPanels panels apart.
template <bool kWeightPanels, int kRows>
void compute_rows(const TileOperands& tile, int64_t panels, int32_t* sums) {
  if (kTilePanels > 1 && panels == kTilePanels) {
    compute_tile<kWeightPanels, kRows, kTilePanels>(tile, sums);
    return;
  }
  TileOperands one = tile;
  for (int64_t j = 0; j < panels; ++j, one.panels += one.panel_stride) {
    compute_tile<kWeightPanels, kRows, 1>(one, sums + j * kPanelColumns);
  }
}

/// Computes as many rows as a tile has, of those that are left.
template <bool kWeightPanels, int kRows = kTileRows>
int64_t compute_some_rows(const TileOperands& tile, int64_t rows, int64_t panels, int32_t* sums) {
  if constexpr (kRows > 1) {
    if (rows < kRows) {
      return compute_some_rows<kWeightPanels, kRows / 2>(tile, rows, panels, sums);
    }
  }
  compute_rows<kWeightPanels, kRows>(tile, panels, sums);
  return kRows;
}

template <bool kWeightPanels>
void multiply(const IntegerProduct& product, int64_t channel) {
  alignas(64) int32_t sums[kTileRows * kPanels * kPanelColumns];
  const auto size = static_cast<int64_t>(elementSize(product.conversion.type));
  for (int64_t column = 0; column < product.columns; column += kPanels * kPanelColumns) {
    const int64_t columns = std::min(kPanels * kPanelColumns, product.columns - column);
    const int64_t panels = (columns + kPanelColumns - 1) / kPanelColumns;
    for (int64_t row = 0; row < product.rows;) {
      const TileOperands tile = {product.rows_data + row * product.row_stride,
                                 product.row_stride,
                                 product.row_bits * 0x01010101u,
                                 product.panels + column / kPanelColumns * product.panel_stride,
                                 product.panel_stride,
                                 product.k};
      const int64_t rows = compute_some_rows<kWeightPanels>(tile, product.rows - row, panels, sums);
      for (int64_t i = 0; i < rows; ++i) {
        const int32_t* const of_row = sums + i * kPanels * kPanelColumns;
        char* const out = product.out + (row + i) * product.out_row_stride + column * size;
        if (kWeightPanels) {
          product.conversion.store_channels(of_row, columns, channel + column, out);
        } else {
          product.conversion.store_of_channel(of_row, columns, channel + row + i, out);
        }
      }
      row += rows;
    }
  }
}

/// Stores `n` sums. Each has a scale and an offset of its own, or all have the first ones.
#if defined(__AVX512F__)

KERNELS_ALWAYS_INLINE inline __m512 load_sums(__mmask16 mask, const int32_t* sums) {
  return _mm512_maskz_cvtepi32_ps(mask, _mm512_maskz_loadu_epi32(mask, sums));
}

KERNELS_ALWAYS_INLINE inline __m512 load_sums(__mmask16 mask, const float* sums) {
  return _mm512_maskz_loadu_ps(mask, sums);
}

// With masks wherever there is a choice: GCC warns that the others read what is not initialized.
template <bool kChannels, typename Sum>
void store_sums(const SumConversion& conversion, const Sum* sums, int64_t n, const float* scales, const float* offsets,
                char* out) {
  constexpr int64_t kLanes = 16;
  const __m512 scale = _mm512_set1_ps(*scales);
  const __m512 offset = _mm512_set1_ps(*offsets);
  const __m512 min = _mm512_set1_ps(conversion.min);
  const __m512 max = _mm512_set1_ps(conversion.max);
  for (int64_t i = 0; i < n; i += kLanes) {
    const auto mask = static_cast<__mmask16>(n - i >= kLanes ? 0xFFFF : (1 << (n - i)) - 1);
    const __m512 x = _mm512_fmadd_ps(load_sums(mask, sums + i), kChannels ? load_sums(mask, scales + i) : scale,
                                     kChannels ? load_sums(mask, offsets + i) : offset);
    if (conversion.type == ScalarType::Float) {
      _mm512_mask_storeu_ps(reinterpret_cast<float*>(out) + i, mask, x);
    } else {
      const __m512 clamped = _mm512_maskz_min_ps(mask, _mm512_maskz_max_ps(mask, x, min), max);
      _mm512_mask_cvtepi32_storeu_epi8(out + i, mask, _mm512_maskz_cvtps_epi32(mask, clamped));
    }
  }
}

#else

/// Rounds floats from -2^22 to 2^22 to integers: behind the point, a sum with this one has no digits.
constexpr float kRoundingShift = 12582912.0f;

template <bool kChannels, typename Sum>
void store_sums(const SumConversion& conversion, const Sum* sums, int64_t n, const float* scales, const float* offsets,
                char* out) {
  const auto value = [=](int64_t i) KERNELS_ALWAYS_INLINE {
    return static_cast<float>(sums[i]) * scales[kChannels ? i : 0] + offsets[kChannels ? i : 0];
  };
  if (conversion.type == ScalarType::Float) {
    float* const floats = reinterpret_cast<float*>(out);
    vectorized_for(n, [=](int64_t i) { floats[i] = value(i); });
    return;
  }
  uint8_t* const bytes = reinterpret_cast<uint8_t*>(out);
  vectorized_for(n, [=, min = conversion.min, max = conversion.max](int64_t i) KERNELS_ALWAYS_INLINE {
    float x = value(i);
    x = x > min ? x : min;
    x = x < max ? x : max;
    x += kRoundingShift;
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    bytes[i] = static_cast<uint8_t>(bits);
  });
}

#endif

template <bool kChannels, typename Sum>
void store(const SumConversion& conversion, const Sum* sums, int64_t n, int64_t channel, char* out) {
  store_sums<kChannels>(conversion, sums, n, conversion.scale + channel, conversion.offset + channel, out);
  if (conversion.table != nullptr) {
    uint8_t* const bytes = reinterpret_cast<uint8_t*>(out);
    look_up_bytes(conversion.table, bytes, n, bytes);
  }
}

}  // namespace

bool SumConversion::init(const Tensor& scales, const Tensor& offsets, const std::optional<Tensor>& values,
                         int64_t count, int64_t quant_min, int64_t quant_max, ScalarType out_type) {
  min = static_cast<float>(quant_min);
  max = static_cast<float>(quant_max);
  table = nullptr;
  type = out_type;
  for (const Tensor* const parameters : {&scales, &offsets}) {
    if (parameters->scalar_type() != ScalarType::Float || parameters->dim() != 1 || parameters->numel() != count) {
      return false;
    }
  }
  scale = scales.const_data_ptr<float>();
  offset = offsets.const_data_ptr<float>();
  if (type == ScalarType::Float) {
    return !values.has_value();
  }
  if (values.has_value()) {
    if (values->scalar_type() != type || values->numel() != 256) {
      return false;
    }
    table = static_cast<const uint8_t*>(values->const_data_ptr());
  }
  const bool is_char = type == ScalarType::Char;
  return (is_char || type == ScalarType::Byte) && quant_min <= quant_max && quant_min >= (is_char ? -128 : 0) &&
         quant_max <= (is_char ? 127 : 255);
}

void SumConversion::store_channels(const int32_t* sums, int64_t n, int64_t channel, char* out) const {
  store<true>(*this, sums, n, channel, out);
}

void SumConversion::store_of_channel(const int32_t* sums, int64_t n, int64_t channel, char* out) const {
  store<false>(*this, sums, n, channel, out);
}

void SumConversion::store_of_channel(const float* sums, int64_t n, int64_t channel, char* out) const {
  store<false>(*this, sums, n, channel, out);
}

void multiply_by_weights(const IntegerProduct& product, int64_t channel) { multiply<true>(product, channel); }

void multiply_weights(const IntegerProduct& product, int64_t channel) { multiply<false>(product, channel); }

}  // namespace rules_executorch::kernels
