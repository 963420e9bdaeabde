#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/gemm/element_products.h"
#include "kernels/gemm/loaded_elements.h"
#include "kernels/simd/inline.h"
#include "kernels/simd/simd.h"
#include "kernels/simd/width.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The number of bytes of a row of a tile. The sums of a tile stay in registers: they take three quarters of the vector
/// registers.
inline constexpr int64_t kTileBytes = kVectorBytes == 64 ? 3 * kVectorBytes : 64;

/// The product of rows of the first operand and a panel of the second one, which has the width of a tile: `totals[i][j]
/// += sum over p < k of a[i][p] * b[p][j]`, or `=`. The elements of a row are contiguous. Strides are in elements.
struct PanelProduct {
  void* totals;
  int64_t totals_stride;
  const void* a;
  int64_t a_stride;
  const void* b;
  int64_t b_stride;
  int64_t rows;
  int64_t columns;  // at most those of a tile; rows of `b` have the width of a tile
  int64_t k;
  bool replaces_totals;
  /// The number of elements from one vector of a row of `b` to the next, or 0 if the vectors are adjacent. Only for
  /// floats in vectors of 64 bytes.
  int64_t vector_stride = 0;
  /// The rows of `b` of the next product, as many as those of this one, to be prefetched. Null for none.
  const void* next = nullptr;
};

namespace internal {

using simd::kLanes;
using simd::Vector;

/// The number of elements between the vectors of a row. It is a constant if the vectors are always adjacent.
template <typename T>
constexpr int64_t stride_of([[maybe_unused]] int64_t vector_stride) {
  if constexpr (std::is_same_v<T, float> && kVectorBytes == 64) {
    return vector_stride;
  }
  return kLanes<T>;
}

/// A tile in vectors of kVectorBytes. `Products` defines how an element and a vector are multiplied and added.
template <typename Products>
struct TileOf {
  static constexpr int kVectors = kTileBytes / kVectorBytes;
  /// Whether there are few tiles, because WideTile does most of the work or because the code must be small.
  static constexpr bool kIsSmall = kVectorRegisters < 32 && kVectors > 3;
  static constexpr int kRows = kIsSmall ? 2 : kVectorRegisters * 3 / 4 / kVectors;
  /// The smallest number of vectors of a tile. Narrow panels have tiles of fewer vectors.
  static constexpr int kLeastVectors = kIsSmall ? kVectors : 1;
  /// The prefetch distance of the first of several tiles in rows of `b`, about a hundred cycles.
  static constexpr int64_t kRowsAhead = kVectorBytes == 64 ? 4 : 16;
  /// The number of cache lines of a row of `b`.
  static constexpr int kLines = static_cast<int>(kTileBytes / 64);
  /// The number of rows of `b` of a step. Counters and pointers take a quarter of the instructions of a row of two
  /// vectors. With four rows, GCC keeps copies of elements in registers, and the loop is slower.
  static constexpr int kStepRows = kVectorBytes == 32 ? 2 : 1;

  /// A PanelProduct with a constant number of rows and vectors. I has one index for each vector of each row, in
  /// row-major order. For each row of `b`, the tile prefetches the lines at `ahead`, which then moves `ahead_step`
  /// elements.
  template <typename T, int kVectors, int... I>
  static void add(const T* a, int64_t a_stride, const T* b, int64_t b_stride, [[maybe_unused]] int64_t vector_stride,
                  int64_t k, T* totals, int64_t totals_stride, bool replaces_totals, const T* ahead, int64_t ahead_step,
                  std::integer_sequence<int, I...>) {
    const T* const rows[] = {a + I / kVectors * a_stride...};
    Vector<T> sums[] = {((void)I, Vector<T>{})...};
    int64_t p = 0;
#if defined(KERNELS_MULTIPLIES_BY_ELEMENT)
    if constexpr (Products::kAreOfElements) {
      constexpr int kRowCount = sizeof...(I) / kVectors;
      for (; p + kLanes<T> <= k; p += kLanes<T>) {
        Vector<T> rows_of_a[kRowCount];
#pragma GCC unroll 8
        for (int i = 0; i < kRowCount; ++i) {
          rows_of_a[i] = load_elements(rows[i * kVectors] + p);
        }
        add_rows<kVectors>(sums, rows_of_a, b, b_stride, ahead, ahead_step,
                           std::make_integer_sequence<int, kLanes<T>>());
        b += kLanes<T> * b_stride;
        ahead += kLanes<T> * ahead_step;
      }
    }
#endif
    const auto add_row = [&](int64_t row, const T* row_in_b) KERNELS_ALWAYS_INLINE {
      ((I < kLines && I < kVectors ? simd::prefetch(ahead + I * stride_of<T>(vector_stride)) : void()), ...);
      const Vector<T> row_of_b[] = {load_elements(row_in_b + I % kVectors * stride_of<T>(vector_stride))...};
      ((sums[I] = Products::add(sums[I], rows[I] + row, row_of_b[I])), ...);
      ahead += ahead_step;
    };
    if constexpr (kStepRows > 1) {
      constexpr int64_t kTileColumns = kTileBytes / sizeof(T);
      const int64_t end = b_stride == kTileColumns ? k - kStepRows : -1;
      for (; p <= end; p += kStepRows, b += kStepRows * kTileColumns) {
#pragma GCC unroll 2
        for (int i = 0; i < kStepRows; ++i) {
          add_row(p + i, b + i * kTileColumns);
        }
      }
    }
    for (; p < k; ++p, b += b_stride) {
      add_row(p, b);
    }
    T* const at[] = {totals + I / kVectors * totals_stride + I % kVectors * kLanes<T>...};
    if (!replaces_totals) {
      ((sums[I] += load_elements(at[I])), ...);
    }
    (simd::store(at[I], sums[I]), ...);
  }

#if defined(KERNELS_MULTIPLIES_BY_ELEMENT)

 private:
  /// Adds the products of a vector of each row of `a`, and a row of `b` for each element of the vector.
  template <int kVectors, typename T, int kSums, int kRowCount, int... Lane>
  KERNELS_ALWAYS_INLINE static void add_rows(Vector<T> (&sums)[kSums], const Vector<T> (&rows_of_a)[kRowCount],
                                             const T* b, int64_t b_stride, const T* ahead, int64_t ahead_step,
                                             std::integer_sequence<int, Lane...>) {
    constexpr int kUsedLines = std::min(kLines, kVectors);
    ((prefetch_lines(ahead + Lane * ahead_step, std::make_integer_sequence<int, kUsedLines>()),
      add_element_products<Lane, kVectors>(sums, rows_of_a, b + Lane * b_stride)),
     ...);
  }

  template <typename T, int... Line>
  KERNELS_ALWAYS_INLINE static void prefetch_lines(const T* ahead, std::integer_sequence<int, Line...>) {
    (simd::prefetch(ahead + Line * kLanes<T>), ...);
  }
#endif
};

/// Products of elements.
struct Elements {
  static constexpr bool kAreOfElements = true;

  template <typename T>
  static Vector<T> add(Vector<T> sums, const T* a, Vector<T> b) {
    return sums + *a * b;
  }
};

using BaseTile = TileOf<Elements>;

#if defined(KERNELS_MULTIPLIES_PAIRS)

/// Products of pairs of BFloat16. The float type stands for a pair.
struct Pairs {
  static constexpr bool kAreOfElements = false;

  static Vector<float> add(Vector<float> sums, const float* a, Vector<float> b) {
    return simd::add_pairs(sums, load_float(a), b);
  }
};

using PairTile = TileOf<Pairs>;

#endif

#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)

/// A tile in vectors of twice the size. The results are the same, because the products of each element are added in the
/// same order.
struct WideTile {
  static constexpr int kVectors = BaseTile::kVectors / 2;
  static constexpr int kRows = kVectorRegisters * 3 / 4 / kVectors;
  static constexpr int kLeastVectors = 1;
  static constexpr int64_t kRowsAhead = BaseTile::kRowsAhead;

  template <typename T, int kVectors, int... I>
  KERNELS_WIDE_VECTORS static void add(const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                                       int64_t /*vector_stride*/, int64_t k, T* totals, int64_t totals_stride,
                                       bool replaces_totals, const T* /*ahead*/, int64_t /*ahead_step*/,
                                       std::integer_sequence<int, I...>) {
    using Wide = Vector<T, 2 * kVectorBytes>;
    constexpr int64_t kWideLanes = 2 * kLanes<T>;
    const T* const rows[] = {a + I / kVectors * a_stride...};
    Wide sums[] = {((void)I, Wide{})...};
    for (int64_t p = 0; p < k; ++p, b += b_stride) {
      Wide row_of_b[sizeof...(I)];
      (std::memcpy(&row_of_b[I], b + I % kVectors * kWideLanes, sizeof(Wide)), ...);
      ((sums[I] += rows[I][p] * row_of_b[I]), ...);
    }
    for (int i = 0; i < int{sizeof...(I)}; ++i) {
      T* const at = totals + i / kVectors * totals_stride + i % kVectors * kWideLanes;
      Wide total = {};
      if (!replaces_totals) {
        std::memcpy(&total, at, sizeof(total));
      }
      total += sums[i];
      std::memcpy(at, &total, sizeof(total));
    }
  }
};

#endif

/// A short loop for integers and complex numbers, because models rarely multiply such matrices.
template <typename T>
void add_products(T* totals, const T* a, const T* b, int64_t b_stride, int64_t k, int64_t n) {
  for (int64_t p = 0; p < k; ++p, b += b_stride) {
    for (int64_t j = 0; j < n; ++j) {
      totals[j] += a[p] * b[j];
    }
  }
}

template <typename T>
using AddTile = void (*)(const T* a, int64_t a_stride, const T* b, int64_t b_stride, int64_t vector_stride, int64_t k,
                         T* totals, int64_t totals_stride, bool replaces_totals, const T* ahead, int64_t ahead_step);

template <typename Tile, typename T, int kRows, int kVectors>
void add_tile(const T* a, int64_t a_stride, const T* b, int64_t b_stride, int64_t vector_stride, int64_t k, T* totals,
              int64_t totals_stride, bool replaces_totals, const T* ahead, int64_t ahead_step) {
  Tile::template add<T, kVectors>(a, a_stride, b, b_stride, vector_stride, k, totals, totals_stride, replaces_totals,
                                  ahead, ahead_step, std::make_integer_sequence<int, kRows * kVectors>());
}

/// The function for tiles of `rows` rows, at most kRows.
template <typename Tile, typename T, int kVectors, int kRows = Tile::kRows>
AddTile<T> tile_of_rows(int64_t rows) {
  if constexpr (kRows > 1) {
    if (rows < kRows) {
      return tile_of_rows<Tile, T, kVectors, kRows - 1>(rows);
    }
  }
  return &add_tile<Tile, T, kRows, kVectors>;
}

/// The function for tiles of `rows` rows and `vectors` vectors.
template <typename Tile, typename T, int kVectors = Tile::kVectors>
AddTile<T> tile_of(int64_t rows, int64_t vectors) {
  if constexpr (kVectors > Tile::kLeastVectors) {
    if (vectors < kVectors) {
      return tile_of<Tile, T, kVectors - 1>(rows, vectors);
    }
  }
  return tile_of_rows<Tile, T, kVectors>(rows);
}

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<::executorch::runtime::etensor::complex<T>> = true;

/// Adds the first columns of a tile of sums to totals, or replaces the totals.
template <typename T>
void add_columns(const T* tile, int64_t tile_stride, int64_t rows, const PanelProduct& product, T* totals) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t j = 0; j < product.columns; ++j) {
      T& total = totals[row * product.totals_stride + j];
      total = product.replaces_totals ? tile[row * tile_stride + j] : total + tile[row * tile_stride + j];
    }
  }
}

template <typename Tile, typename T>
void add_panel(const PanelProduct& product) {
  if constexpr (kIsComplex<T>) {
    // Complex numbers are pairs of real numbers. x and y are multiplied by b and i * b.
    PanelProduct parts = product;
    parts.totals_stride *= 2;
    parts.a_stride *= 2;
    parts.b_stride *= 2;
    parts.columns *= 2;
    parts.k *= 2;
    add_panel<Tile, typename T::value_type>(parts);
    return;
  }
  const T* a = static_cast<const T*>(product.a);
  const T* const b = static_cast<const T*>(product.b);
  T* totals = static_cast<T*>(product.totals);
  if constexpr (std::is_floating_point_v<T>) {
    constexpr int64_t kColumns = kTileBytes / sizeof(T);
    constexpr int64_t kVectorColumns = kColumns / Tile::kVectors;
    const int64_t vectors =
        std::max<int64_t>((product.columns + kVectorColumns - 1) / kVectorColumns, Tile::kLeastVectors);
    const bool is_whole = product.columns == vectors * kVectorColumns;
    const int64_t vector_stride = product.vector_stride != 0 ? product.vector_stride : kLanes<T>;
    // All tiles have about the same number of rows, because tiles of few rows wait for their sums.
    int64_t tiles = (product.rows + Tile::kRows - 1) / Tile::kRows;
    // The first tile reads `b` from memory. The other tiles read it from a cache, and share the rows to prefetch.
    const int64_t next_step = product.b_stride / std::max<int64_t>(tiles - 1, 1) + 1;
    const T* next = static_cast<const T*>(product.next);
    // A product of one tile waits for memory only, which the processor prefetches better.
    const T* ahead = tiles == 1 ? b : b + Tile::kRowsAhead * product.b_stride;
    int64_t ahead_step = product.b_stride;
    for (int64_t i = 0, rows = 0; i < product.rows; i += rows, --tiles) {
      rows = (product.rows - i + tiles - 1) / tiles;
      const auto add = tile_of<Tile, T>(rows, vectors);
      if (is_whole) {
        add(a, product.a_stride, b, product.b_stride, vector_stride, product.k, totals, product.totals_stride,
            product.replaces_totals, ahead, ahead_step);
      } else {
        T tile[Tile::kRows * kColumns];
        add(a, product.a_stride, b, product.b_stride, vector_stride, product.k, tile, kColumns,
            /*replaces_totals=*/true, ahead, ahead_step);
        add_columns(tile, kColumns, rows, product, totals);
      }
      a += rows * product.a_stride;
      totals += rows * product.totals_stride;
      if (next != nullptr) {
        ahead = next;
        ahead_step = next_step;
        next += product.k * next_step;
      }
    }
  } else {
    for (int64_t i = 0; i < product.rows; ++i, a += product.a_stride, totals += product.totals_stride) {
      if (product.replaces_totals) {
        std::fill_n(totals, product.columns, T(0));
      }
      add_products(totals, a, b, product.b_stride, product.k, product.columns);
    }
  }
}

}  // namespace internal
}  // namespace rules_executorch::kernels
