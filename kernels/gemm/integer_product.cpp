#include "kernels/gemm/integer_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/gemm/integer_operands.h"
#include "kernels/gemm/integer_tile.h"
#include "kernels/math/byte_table.h"
#include "kernels/math/vectorize.h"
#include "kernels/simd/run_time.h"
#include "kernels/simd/simd.h"

namespace rules_executorch::kernels {

using namespace integer;

namespace {

/// The tiles of an IntegerProduct.
struct IntegerTiles {
#if defined(KERNELS_MULTIPLIES_SHORTS)
  static constexpr bool kWidensRows = true;
#else
  static constexpr bool kWidensRows = false;
#endif
  static constexpr int kMostRows = kRowsOfTile;

  const IntegerProduct& product;
  /// The factors and offsets of the columns, padded to whole vectors.
  const float* scales;
  const float* offsets;
  Prepared& prepared;

  template <int kRows, int kPanelCount>
#if defined(KERNELS_MULTIPLIES_SHORTS)
  [[gnu::noinline]]  // The loops of a tile need most registers.
#endif
  void
  compute(int64_t row, int64_t column, int64_t count) const {
#if KERNELS_HAVE_VECTOR_TABLES
    if (product.conversion.table != nullptr && simd::has_vector_tables()) {
      compute_with_table<kRows, kPanelCount>(row, column, count);
      return;
    }
#endif
    compute_converted<kRows, kPanelCount>(row, column, count, [](simd::Bytes x) KERNELS_ALWAYS_INLINE { return x; });
  }

 private:
#if KERNELS_HAVE_VECTOR_TABLES
  template <int kRows, int kPanelCount>
  KERNELS_VECTOR_TABLES void compute_with_table(int64_t row, int64_t column, int64_t count) const {
    compute_converted<kRows, kPanelCount>(row, column, count, simd::VectorTable{product.conversion.table});
  }
#endif

  /// Not KERNELS_ALWAYS_INLINE, because `convert` may be compiled for other instructions than this function. Callers
  /// with these instructions inline both.
  template <int kRows, int kPanelCount, typename Convert>
  void compute_converted(int64_t row, int64_t column, int64_t count, const Convert& convert) const {
    const Operands<8, /*kIsUnsigned=*/true> tile = {product.rows_data + row * product.row_stride,
                                                    product.row_stride,
                                                    product.panels + column / kPanelColumns * product.panel_stride,
                                                    product.panel_stride,
                                                    product.k,
                                                    prepared,
                                                    product.row_bits};
    simd::Ints totals[kRows][kPanelCount * kVectorsOfPanel];
    sum_products(tile, totals);
    const ScalarType type = product.conversion.type;
    char* const out = product.out + row * product.out_row_stride + column * static_cast<int64_t>(elementSize(type));
    if (type == ScalarType::Float) {
      store_floats(column, count, totals, out);
    } else {
      store_bytes(column, count, totals, convert, out);
    }
  }

  template <int kRows, int kVectors>
  KERNELS_ALWAYS_INLINE void store_floats(int64_t column, int64_t count, const simd::Ints (&totals)[kRows][kVectors],
                                          char* out) const {
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i, out += product.out_row_stride) {
      int32_t sums[kVectors * simd::kIntLanes];
      std::memcpy(sums, totals[i], sizeof(sums));
      store_floats_of_row(sums, column, count, reinterpret_cast<float*>(out));
    }
  }

  void store_floats_of_row(const int32_t* sums, int64_t column, int64_t count, float* out) const {
    vectorized_for(count, [=, factors = scales + column, addends = offsets + column](int64_t i) {
      out[i] = static_cast<float>(sums[i]) * factors[i] + addends[i];
    });
  }

  /// Converts sums to bytes with `convert` and stores them. Each step has as many rows as fit into a vector.
  template <int kRows, int kVectors, typename Convert>
  KERNELS_ALWAYS_INLINE void store_bytes(int64_t column, int64_t count, simd::Ints (&totals)[kRows][kVectors],
                                         const Convert& convert, char* out) const {
    constexpr int kTogether = 4 / kVectors;
    constexpr int64_t kRowBytes = kVectors * simd::kIntLanes;
    const int64_t stride = product.out_row_stride;
    // The vectors of a column share factors and offsets.
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const int64_t lane = column + j * simd::kIntLanes;
#pragma GCC unroll 12
      for (int i = 0; i < kRows; ++i) {
        totals[i][j] = product.conversion.rounded(totals[i][j], scales + lane, offsets + lane);
      }
    }
#pragma GCC unroll 12
    for (int i = 0; i < kRows; i += kTogether, out += kTogether * stride) {
      simd::Ints x[4];
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        const int row = i + j / kVectors;
        x[j] = j < kTogether * kVectors && row < kRows ? totals[row][j % kVectors] : simd::Ints{};
      }
      const simd::Bytes bytes = convert(simd::in_order(simd::narrow(x)));
      if constexpr (kTogether <= simd::kMostParts && kTogether * kRowBytes == simd::kByteLanes) {
        if (count == kRowBytes && i + kTogether <= kRows) {
          void* to[kTogether];
#pragma GCC unroll 4
          for (int j = 0; j < kTogether; ++j) {
            to[j] = out + j * stride;
          }
          simd::store_parts(to, bytes);
          continue;
        }
      }
      alignas(simd::kByteLanes) char results[simd::kByteLanes];
      simd::store(results, bytes);
      for (int j = 0; j < kTogether && i + j < kRows; ++j) {
        if (count == kRowBytes) {
          // A copy with a constant size is the fastest.
          std::memcpy(out + j * stride, results + j * kRowBytes, kRowBytes);
        } else {
          simd::copy_few_bytes(out + j * stride, results + j * kRowBytes, count);
        }
      }
    }
  }
};

}  // namespace

bool SumConversion::init(const Tensor& scales, const Tensor& offsets, const std::optional<Tensor>& values,
                         int64_t count, int64_t quant_min, int64_t quant_max, ScalarType out_type) {
  range = {static_cast<float>(quant_min), static_cast<float>(quant_max)};
  table = nullptr;
  is_affine = false;
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
  if ((!is_char && type != ScalarType::Byte) || quant_min > quant_max || quant_min < (is_char ? -128 : 0) ||
      quant_max > (is_char ? 127 : 255)) {
    return false;
  }
#if defined(KERNELS_ROUNDS_AFFINE)
  if (table != nullptr && !simd::has_vector_tables()) {
    is_affine = find_affine(table, is_char, static_cast<int>(quant_min), static_cast<int>(quant_max), affine);
    if (is_affine) {
      table = nullptr;
      range = {affine.min, affine.max};
    }
  }
#endif
  return true;
}

void multiply_by_weights(const IntegerProduct& product, int64_t channel) {
  const float* scales = product.conversion.scale + channel;
  const float* offsets = product.conversion.offset + channel;
  alignas(64) float padded[2][kBlockColumns];
  if (product.columns % kPanelColumns != 0) {
    std::fill_n(std::copy_n(scales, product.columns, padded[0]), kBlockColumns - product.columns, 0.0f);
    std::fill_n(std::copy_n(offsets, product.columns, padded[1]), kBlockColumns - product.columns, 0.0f);
    scales = padded[0];
    offsets = padded[1];
  }
  Prepared prepared;
  compute_tiles(IntegerTiles{product, scales, offsets, prepared}, {0, product.rows, 0, product.columns});
  if (product.conversion.table != nullptr && !simd::has_vector_tables()) {
    look_up_rows(product.conversion.table, product.rows, product.columns, product.out_row_stride,
                 reinterpret_cast<uint8_t*>(product.out));
  }
}

}  // namespace rules_executorch::kernels
