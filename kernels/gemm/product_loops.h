#pragma once

#include <type_traits>

#include "kernels/gemm/panel_product.h"
#include "kernels/gemm/row_loops.h"
#include "kernels/simd/run_time.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The type-erased innermost loops of a product in elements of one type. The elements of a row are contiguous. Strides
/// are in elements.
struct ProductLoops {
  /// The type of the loaded operands and of the sums.
  ScalarType type;
  /// For complex numbers, `b` has two rows for each of its rows: the second one is the first one times i.
  void (*add_panel)(const PanelProduct& product);
  RowLoops rows;
  /// The loops for `b` in memory as Half or BFloat16, which are converted to float when they are loaded. Null for other
  /// types.
  RowLoops rows_of_half = {};
  RowLoops rows_of_bfloat16 = {};
  /// As add_panel, but each element of `a` and `b` is a pair of BFloat16, and both products are added. Null if the
  /// instruction set has no products of pairs.
  void (*add_panel_of_pairs)(const PanelProduct& product) = nullptr;

  /// The loops for elements of dtype `b` in memory. Null if `b` must be loaded.
  const RowLoops* rows_of(ScalarType b) const {
    const RowLoops& loops = b == ScalarType::Half ? rows_of_half : b == ScalarType::BFloat16 ? rows_of_bfloat16 : rows;
    return (b == type || &loops != &rows) && loops.add_rows != nullptr ? &loops : nullptr;
  }
};

/// The type of the computation for matrices of `T`. All integers use int64_t: the low bits of the products are the
/// same.
template <typename T>
using ProductType = std::conditional_t<std::is_integral_v<T>, int64_t, T>;

/// The loops for elements of type `T`, a ProductType.
template <typename T>
const ProductLoops& product_loops();

namespace internal {

// Whether an operand can have a dtype: in a dtype-selective build, whether an operator has the dtype.
#ifdef EXECUTORCH_SELECTIVE_BUILD_DTYPE
constexpr bool is_met(ScalarType type) { return should_include_dtype(type); }
#else
constexpr bool is_met(ScalarType) { return true; }
#endif

template <typename Tile, typename T>
constexpr ProductLoops make_product_loops() {
  ProductLoops loops{CppTypeToScalarType<T>::value, &add_panel<Tile, T>, kRowLoops<T, T>};
#if defined(KERNELS_LOADS_HALF)
  if constexpr (std::is_same_v<T, float> && is_met(ScalarType::Half)) {
    loops.rows_of_half = kRowLoops<float, Half>;
  }
#endif
  if constexpr (std::is_same_v<T, float> && is_met(ScalarType::BFloat16)) {
    loops.rows_of_bfloat16 = kRowLoops<float, BFloat16>;
#if defined(KERNELS_MULTIPLIES_PAIRS)
    loops.add_panel_of_pairs = &add_panel<PairTile, float>;
#endif
  }
  return loops;
}

}  // namespace internal

template <typename T>
const ProductLoops& product_loops() {
  static_assert(std::is_same_v<T, ProductType<T>>);
  static constexpr ProductLoops loops = internal::make_product_loops<internal::BaseTile, T>();
#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)
  if constexpr (!std::is_integral_v<T>) {
    static constexpr ProductLoops wide_loops = internal::make_product_loops<internal::WideTile, T>();
    if (simd::has_wide_vectors()) {
      return wide_loops;
    }
  }
#endif
  return loops;
}

}  // namespace rules_executorch::kernels
