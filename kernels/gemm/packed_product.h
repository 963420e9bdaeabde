#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/float_panels.h"
#include "kernels/gemm/layouts.h"
#include "kernels/gemm/product_loops.h"
#include "kernels/gemm/reduced_rows.h"
#include "kernels/math/activation.h"
#include "kernels/math/divide_up.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The blocks of a PackedProduct. MC is the number of rows that are multiplied by a strip of panels. The part of a
/// panel that tiles read, and the sums, stay in the L2 cache. With a smaller KC, the sums would be loaded and stored
/// more often: with 384, for which a panel fits in the L1 cache, layers of 768 or more features take 3% to 8% longer.
inline constexpr int64_t kPackedMC = 512;
inline constexpr int64_t kPackedKC = 768;
/// Parts have a multiple of this number of rows, which is a multiple of the MR of tiles on x86-64: 6 and 8.
inline constexpr int64_t kPackedRowStep = 24;
/// The same for 16-bit elements that are converted. Each step converts a part of a panel.
inline constexpr int64_t kReducedMC = 64;
inline constexpr int64_t kReducedKC = 32;
/// The largest number of rows that read the panels of a strip one after the other. Such rows wait for memory, and the
/// processor prefetches the rest of a panel only until another panel is read.
inline constexpr int64_t kFewRows = 8;

/// The type of sums of elements of type E.
template <typename E>
using SumType = std::conditional_t<is_reduced_floating_point<E>::value, float, E>;

/// The product of rows and packed weights, as in a linear layer: `out = activation(in * weight + bias)`. Rows are
/// contiguous. For 16-bit elements E, sums are floats and are rounded once.
template <typename E>
struct PackedProduct {
  using T = SumType<E>;

  const ProductLoops& loops;
  const void* in;   // of type E if E is T or pairs are multiplied, otherwise of type T
  const E* weight;  // panels, one after the other
  const E* bias;    // null for none
  E* out;
  int64_t rows;
  int64_t k;
  int64_t columns;
  Activation activation;

  /// Whether the instruction set multiplies pairs of elements.
  static bool multiplies_pairs() {
    return std::is_same_v<E, BFloat16> && product_loops<T>().add_panel_of_pairs != nullptr;
  }

  void compute() const {
    const int64_t strips = divide_up(columns, kStripColumns);
    // With parts of the same size, threads with as many strips take the same time.
    const int64_t part_rows = even_size(rows, kPackedMC, kPackedRowStep);
    const int64_t parts = divide_up(rows, part_rows);
    const int64_t weights = kStripColumns * k;
    const int64_t grain =
        grain_of(std::min(rows, part_rows) * weights / kProductsOfAddition, weights * int64_t{sizeof(E)});
    parallel_for(0, parts * strips, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / strips * part_rows;
        compute_strip(row, std::min(part_rows, rows - row), i % strips * kStripColumns);
      }
    });
  }

 private:
  /// Computes the columns of a strip, from `column` on, for `count` rows.
  void compute_strip(int64_t row, int64_t count, int64_t column) const {
    const int64_t width = std::min(kStripColumns, columns - column);
    const E* const b = weight + column * k;
    E* const results = out + row * columns + column;
    if constexpr (std::is_same_v<E, T>) {
      compute_sums(row, count, b, width, results, columns);
      for (int64_t i = 0; i < count; ++i) {
        finish(results + i * columns, column, width);
      }
    } else {
      // The sums of some rows, which are then converted to results.
      alignas(64) T sums[kReducedMC * kStripColumns];
      for (int64_t i = 0; i < count; ++i) {
        T* const sums_of_row = sums + i % kReducedMC * kStripColumns;
        if (i % kReducedMC == 0) {
          compute_sums(row + i, std::min(kReducedMC, count - i), b, width, sums, kStripColumns);
        }
        finish(sums_of_row, column, width);
        store_row(sums_of_row, results + i * columns, width);
      }
    }
  }

  /// Whether weights are converted before they are multiplied.
  static bool converts() { return !std::is_same_v<E, T> && !multiplies_pairs(); }

  /// Computes the sums of `width` columns for `count` rows, from `row` on. `b` is the first panel of the columns.
  void compute_sums(int64_t row, int64_t count, const E* b, int64_t width, T* sums, int64_t stride) const {
    // Conversions take longer than the memory.
    const bool waits_for_memory = rows <= kFewRows && !converts();
    const int64_t step = waits_for_memory ? std::max(tile_columns<T>(), kFloatPanelColumns) : width;
    for (int64_t j = 0; j < width; j += step) {
      PanelProduct product{};
      product.totals = sums + j;
      product.totals_stride = stride;
      product.rows = count;
      product.columns = std::min(step, width - j);
      add_products(row, b + j * k, product);
    }
  }

  /// Computes the sums of a product from `row` on. `b` is the first panel of the product's columns.
  void add_products(int64_t row, const E* b, PanelProduct product) const {
    product.replaces_totals = true;
    if (!converts()) {
      // The elements of a product in the type of the sums: one, or a pair.
      constexpr int64_t kCount = sizeof(T) / sizeof(E);
      const int64_t depth = k / kCount;
      const E* const a = static_cast<const E*>(in) + row * k;
      product.a_stride = depth;
      for (int64_t start = 0; start < depth; start += kPackedKC, product.replaces_totals = false) {
        product.a = a + kCount * start;
        product.b = b + kCount * start * kFloatPanelColumns;
        product.k = std::min(kPackedKC, depth - start);
        add_panels<T>(kCount == 1 ? loops.add_panel : loops.add_panel_of_pairs, product, depth * kFloatPanelColumns);
      }
      return;
    }
    if constexpr (!std::is_same_v<E, T>) {
      alignas(64) T rows_of_b[kReducedKC * kStripColumns];
      const T* const a = static_cast<const T*>(in) + row * k;
      product.a_stride = k;
      product.b = rows_of_b;
      for (int64_t start = 0; start < k; start += kReducedKC, product.replaces_totals = false) {
        product.a = a + start;
        product.k = std::min(kReducedKC, k - start);
        for (int64_t j = 0; j < product.columns; j += kFloatPanelColumns) {
          convert_weights(b + j * k + start * kFloatPanelColumns, /*has_pairs=*/std::is_same_v<E, BFloat16>, product.k,
                          rows_of_b + j * kReducedKC);
        }
        add_panels<T>(loops.add_panel, product, kReducedKC * kFloatPanelColumns);
      }
    }
  }

  void finish(T* sums, int64_t column, int64_t n) const {
    if (k == 0) {
      std::fill_n(sums, n, T(0));
    }
    if (bias != nullptr) {
      T block[kStripColumns];
      const T* addend = block;
      if constexpr (std::is_same_v<E, T>) {
        addend = bias + column;
      } else {
        load_row(bias + column, block, n);
      }
      vectorized_for(n, [=](int64_t i) { sums[i] += addend[i]; });
    }
    activation(sums, n);
  }
};

}  // namespace rules_executorch::kernels
