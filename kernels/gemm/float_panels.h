#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm/layouts.h"
#include "kernels/gemm/product_loops.h"
#include "kernels/simd/width.h"

namespace rules_executorch::kernels {

/// The number of columns that kernels process together: the panels that the widest tile reads side by side.
constexpr int64_t kStripColumns = 3 * kFloatPanelColumns;

/// The number of columns, including the zero padding of the last panel.
constexpr int64_t filled_columns(int64_t columns) {
  return (columns + kFloatPanelColumns - 1) / kFloatPanelColumns * kFloatPanelColumns;
}

/// The number of columns of a strip, where `filled` columns are divided into strips.
constexpr int64_t strip_width(int64_t filled, int64_t strip) {
  return std::min(kStripColumns, filled - strip * kStripColumns);
}

/// The first element of a strip of a group. A group has `filled` columns. `k` is the number of inputs of a sum.
constexpr int64_t strip_start(int64_t filled, int64_t group, int64_t strip, int64_t k) {
  return (group * filled + strip * kStripColumns) * k;
}

/// Whether the sizes of a tensor, from dimension `first` on, are those of panels of `columns` columns with a row for
/// each of `k` inputs, or for each pair of inputs with `has_pairs`.
inline bool has_panels(const Tensor& weight, int64_t first, int64_t columns, int64_t k, bool has_pairs) {
  return weight.dim() == first + (has_pairs ? 4 : 3) &&
         weight.size(first) * kFloatPanelColumns == filled_columns(columns) &&
         weight.size(first + 1) * (has_pairs ? 2 : 1) == k && weight.size(first + 2) == kFloatPanelColumns &&
         (!has_pairs || weight.size(first + 3) == 2);
}

/// The number of columns that one tile of elements of type T reads: one or several panels, or a part of a panel.
template <typename T>
constexpr int64_t tile_columns() {
  constexpr int64_t kOfRegisters = kTileBytes / static_cast<int64_t>(sizeof(T));
  return kOfRegisters < kFloatPanelColumns ? kOfRegisters : kOfRegisters / kFloatPanelColumns * kFloatPanelColumns;
}

/// Adds the products of several panels, `panel_stride` elements apart. `product.b` is the first row of the first panel.
/// `product.columns` is the number of columns of all panels. Sets product.b_stride and product.vector_stride.
template <typename T>
void add_panels(void (*add_panel)(const PanelProduct& product), PanelProduct product, int64_t panel_stride) {
  constexpr int64_t kColumns = tile_columns<T>();
  static_assert(kColumns % kFloatPanelColumns == 0 || kFloatPanelColumns % kColumns == 0);
  static_assert(kColumns <= kFloatPanelColumns || kVectorBytes / sizeof(T) == kFloatPanelColumns);
  T* const totals = static_cast<T*>(product.totals);
  const T* const b = static_cast<const T*>(product.b);
  const int64_t width = product.columns;
  product.b_stride = kFloatPanelColumns;
  product.vector_stride = kColumns > kFloatPanelColumns ? panel_stride : 0;
  const auto rows_of = [&](int64_t j) { return b + j / kFloatPanelColumns * panel_stride + j % kFloatPanelColumns; };
  for (int64_t j = 0; j < width; j += kColumns) {
    product.totals = totals + j;
    product.b = rows_of(j);
    product.columns = std::min(kColumns, width - j);
    // After the last panel, the rows after these rows of the first panel.
    product.next = j + kColumns < width ? rows_of(j + kColumns) : b + product.k * kFloatPanelColumns;
    add_panel(product);
  }
}

}  // namespace rules_executorch::kernels
