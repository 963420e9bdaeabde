#include "kernels/gemm/dynamic_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/math/divide_up.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/simd/simd.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {

namespace {

/// The bytes of kBytePanelDepth elements of each column of a panel.
constexpr int64_t kDynamicBlock = kBytePanelColumns * kBytePanelDepth;
constexpr int kDynamicVectors = static_cast<int>(kDynamicBlock / simd::kByteLanes);
/// The rows (MR) and panels of a tile. The sums take half of the registers of most processors.
constexpr int kDynamicMR = 4;
constexpr int kDynamicPanels = kDynamicVectors == 1 ? 4 : 1;
static_assert(kBytePanelDepth == simd::kQuadBytes && kBytePanelRowMultiple == 2 * kBytePanelDepth);
/// The number of rows that are multiplied by a panel before the next panel.
constexpr int64_t kDynamicMC = 64;

/// The tile of some rows and panels of a DynamicProduct.
template <int kBits, int kRows, int kPanels>
struct DynamicTile {
  static constexpr int kVectors = kPanels * kDynamicVectors;
  static constexpr int64_t kColumns = kPanels * kBytePanelColumns;
  static_assert(kColumns <= kBlockSize);
  /// The number of parts of a byte, each with a weight.
  static constexpr int kParts = 8 / kBits;
  /// The factor of the sums.
  static constexpr float kFactor = kBits == 4 ? 1.0f / simd::kNibbleFactor : 1.0f;
#if defined(KERNELS_ADDS_NIBBLES_IN_SHORTS)
  static constexpr bool kAddsShorts = kBits == 4;
#else
  static constexpr bool kAddsShorts = false;
#endif
  /// The elements whose products 16-bit sums hold.
  static constexpr int64_t kShortsDepth = 32;
  /// With one row, two chains of sums hide the latency of the products. Sums of shorts have a low latency.
  static constexpr int kChains = kRows == 1 && kBits == 4 && !kAddsShorts ? 2 : 1;
  using Sums = simd::Ints[kRows][kVectors][kChains];
  using Floats = simd::Vector<float, simd::kByteLanes>;

  const DynamicProduct& product;
  int64_t row;
  int64_t panel;

  void compute() const {
    Floats totals[kRows][kVectors] = {};
    const char* block = product.panels + panel * product.panel_stride;
    for (int64_t g = 0; g < product.groups; ++g) {
      Sums sums;
      block = sum_group(g, block, sums);
      add_scaled(g, sums, totals);
    }
    const int64_t count = std::min(kColumns, product.columns - panel * kBytePanelColumns);
    for (int i = 0; i < kRows; ++i) {
      float results[kColumns];
      std::memcpy(results, totals[i], sizeof(results));
      store(row + i, results, count);
    }
  }

 private:
  /// Computes the integer sums of a group, whose weights begin at `block`. Returns the end of these weights.
  KERNELS_ALWAYS_INLINE const char* sum_group(int64_t group, const char* block, Sums& sums) const {
    const uint8_t* rows[kRows];
    for (int i = 0; i < kRows; ++i) {
      rows[i] = product.rows_data + (row + i) * product.row_stride + group * product.group_size;
    }
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
#pragma GCC unroll 2
        for (int chain = 0; chain < kChains; ++chain) {
          sums[i][j][chain] = simd::Ints{};
        }
      }
    }
#if defined(KERNELS_ADDS_NIBBLES_IN_SHORTS)
    if constexpr (kAddsShorts) {
      for (int64_t p = 0; p < product.group_size; p += kShortsDepth) {
        block = add_through_shorts(rows, p, std::min(p + kShortsDepth, product.group_size), block, sums);
      }
      return block;
    }
#endif
    return add_blocks(rows, 0, product.group_size, block,
                      [&](int i, int j, int part, simd::Bytes x, simd::Bytes weights) KERNELS_ALWAYS_INLINE {
                        simd::Ints& sum = sums[i][j][part % kChains];
                        sum = simd::add_products(sum, x, weights);
                      });
  }

#if defined(KERNELS_ADDS_NIBBLES_IN_SHORTS)

  /// Adds the products of the elements from `p` to `end`, at most kShortsDepth, first in 16-bit sums.
  KERNELS_ALWAYS_INLINE const char* add_through_shorts(const uint8_t* const (&rows)[kRows], int64_t p, int64_t end,
                                                       const char* block, Sums& sums) const {
    simd::Bytes shorts[kRows][kVectors];
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        shorts[i][j] = simd::Bytes{};
      }
    }
    block = add_blocks(rows, p, end, block,
                       [&](int i, int j, int, simd::Bytes x, simd::Bytes weights) KERNELS_ALWAYS_INLINE {
                         shorts[i][j] = simd::add_pairs_of_bytes(shorts[i][j], x, weights);
                       });
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        sums[i][j][0] = simd::add_shorts(sums[i][j][0], shorts[i][j]);
      }
    }
    return block;
  }

#endif

  /// Calls `add(row, vector, part, x, weights)` for the blocks of the elements from `p` to `end`. The first block is at
  /// `block`. Returns the end of the blocks.
  template <typename Add>
  KERNELS_ALWAYS_INLINE const char* add_blocks(const uint8_t* const (&rows)[kRows], int64_t p, int64_t end,
                                               const char* block, const Add& add) const {
    for (; p < end; p += kParts * kBytePanelDepth, block += kDynamicBlock) {
      simd::Bytes weights[kParts][kVectors];
      load_weights(block, weights);
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
        for (int part = 0; part < kParts; ++part) {
          uint32_t elements;
          std::memcpy(&elements, rows[i] + p + part * kBytePanelDepth, sizeof(elements));
          const simd::Bytes x = simd::repeat_quad(elements);
#pragma GCC unroll 4
          for (int j = 0; j < kVectors; ++j) {
            add(i, j, part, x, weights[part][j]);
          }
        }
      }
    }
    return block;
  }

  KERNELS_ALWAYS_INLINE void load_weights(const char* block, simd::Bytes (&weights)[kParts][kVectors]) const {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const auto bytes = simd::load_as<simd::Bytes>(block + j / kDynamicVectors * product.panel_stride +
                                                    j % kDynamicVectors * simd::kByteLanes);
      if constexpr (kBits == 4) {
        const simd::Nibbles nibbles = simd::nibbles_of(bytes);
        weights[0][j] = nibbles.lower;
        weights[1][j] = nibbles.higher;
      } else {
        weights[0][j] = bytes;
      }
    }
  }

  /// Adds the sums of a group, times their scales.
  KERNELS_ALWAYS_INLINE void add_scaled(int64_t group, const Sums& sums, Floats (&totals)[kRows][kVectors]) const {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const int64_t of_panel = (panel + j / kDynamicVectors) * product.groups + group;
      const auto scales =
          simd::load_as<Floats>(product.scales + of_panel * kBytePanelColumns + j % kDynamicVectors * simd::kIntLanes);
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
        auto sum = simd::integers_of(sums[i][j][0]);
        for (int chain = 1; chain < kChains; ++chain) {
          sum += simd::integers_of(sums[i][j][chain]);
        }
        totals[i][j] += simd::floats_of(sum) * scales;
      }
    }
  }

  /// Stores `count` results of a row.
  void store(int64_t row, const float* totals, int64_t count) const {
    const RowParameters parameters = product.parameters[row];
    const int64_t column = panel * kBytePanelColumns;
    const auto size = static_cast<int64_t>(elementSize(product.type));
    char* const results = product.out + (row * product.columns + column) * size;
    float block[kColumns];
    float* const out = product.type == ScalarType::Float ? reinterpret_cast<float*>(results) : block;
    vectorized_for(count, [=, offsets = product.offsets + column](int64_t j) {
      out[j] = (totals[j] * kFactor - parameters.zero_point * offsets[j]) * parameters.scale;
    });
    if (product.bias != nullptr) {
      vectorized_for(count, [=, bias = product.bias + column](int64_t j) { out[j] += bias[j]; });
    }
    if (product.type != ScalarType::Float) {
      store_block(ScalarType::Float, block, product.type, results, size, count);
    }
  }
};

template <int kBits, int kPanels>
void multiply_panels(const DynamicProduct& product, int64_t row, int64_t rows, int64_t panel) {
  for (; rows >= kDynamicMR; rows -= kDynamicMR, row += kDynamicMR) {
    DynamicTile<kBits, kDynamicMR, kPanels>{product, row, panel}.compute();
  }
  // Products of one row wait for memory. One stream of weights is faster than several.
  for (; rows > 0; --rows, ++row) {
    for (int i = 0; i < kPanels; ++i) {
      DynamicTile<kBits, 1, 1>{product, row, panel + i}.compute();
    }
  }
}

template <int kBits>
void multiply_dynamic(const DynamicProduct& product) {
  const int64_t panels = divide_up(product.columns, kBytePanelColumns);
  const int64_t parts = divide_up(panels, kDynamicPanels);
  const int64_t row_blocks = divide_up(product.rows, kDynamicMC);
  const int64_t work =
      std::min(product.rows, kDynamicMC) * product.groups * product.group_size * kDynamicPanels / kBytePanelDepth;
  parallel_for(0, row_blocks * parts, grain_of(work, kDynamicPanels * product.panel_stride),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t row = i / parts * kDynamicMC;
                   const int64_t count = std::min(kDynamicMC, product.rows - row);
                   int64_t panel = i % parts * kDynamicPanels;
                   if (panel + kDynamicPanels <= panels) {
                     multiply_panels<kBits, kDynamicPanels>(product, row, count, panel);
                     continue;
                   }
                   for (; panel < panels; ++panel) {
                     multiply_panels<kBits, 1>(product, row, count, panel);
                   }
                 }
               });
}

}  // namespace

void multiply_quantized_rows(const DynamicProduct& product) {
  if (product.has_nibbles) {
    multiply_dynamic<4>(product);
  } else {
    multiply_dynamic<8>(product);
  }
}

}  // namespace rules_executorch::kernels
