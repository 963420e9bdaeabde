#include "kernels/copy/transposition.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/math/vectorize.h"
#include "kernels/simd/vector.h"

namespace rules_executorch::kernels {
namespace {

/// Copies rows of sizeof...(J) elements, each with one copy.
template <typename T, int... J>
void copy_rows_of(const Transposition& matrix, const char* source, char* target, int64_t rows,
                  std::integer_sequence<int, J...>) {
  for (int64_t i = 0; i < rows; ++i) {
    T row[sizeof...(J)];
    (std::memcpy(&row[J], source + J * matrix.source_stride + i * int64_t{sizeof(T)}, sizeof(T)), ...);
    std::memcpy(target + i * matrix.target_stride, row, sizeof(row));
  }
}

#ifdef KERNELS_HAVE_SHUFFLES

/// Whether one instruction shuffles the elements of a vector arbitrarily.
template <typename T>
constexpr bool can_shuffle() {
#if defined(__SSSE3__) || defined(__aarch64__)
  return true;
#else
  return sizeof(T) >= sizeof(uint32_t);
#endif
}

/// Stores vector `kIndex` of the interleaved pixels of three vectors of colors. `I` are the lanes of a vector.
template <int kIndex, typename Vector, int... I>
KERNELS_ALWAYS_INLINE inline void store_pixels(const Vector& a, const Vector& b, const Vector& c, char* target,
                                               std::integer_sequence<int, I...>) {
  constexpr int kSide = sizeof...(I);
  constexpr int kFirst = kIndex * kSide;
  const Vector two = simd::shuffle<((kFirst + I) / 3 + ((kFirst + I) % 3 == 1 ? kSide : 0))...>(a, b);
  simd::store(target + kIndex * sizeof(Vector),
              simd::shuffle<((kFirst + I) % 3 == 2 ? kSide + (kFirst + I) / 3 : I)...>(two, c));
}

/// Copies one vector of each of three colors to interleaved pixels.
template <typename T>
KERNELS_ALWAYS_INLINE inline void copy_colors(const Transposition& matrix, const char* source, char* target) {
  constexpr int kSide = 16 / sizeof(T);
  constexpr auto kAll = std::make_integer_sequence<int, kSide>();
  using Vector = simd::Vector<T, 16>;
  Vector colors[3];
  KERNELS_LANES
  for (int k = 0; k < 3; ++k) {
    std::memcpy(&colors[k], source + k * matrix.source_stride, sizeof(Vector));
  }
  store_pixels<0>(colors[0], colors[1], colors[2], target, kAll);
  store_pixels<1>(colors[0], colors[1], colors[2], target, kAll);
  store_pixels<2>(colors[0], colors[1], colors[2], target, kAll);
}

#endif

/// Copies a part of a tile element by element.
template <typename T>
void copy_strips(const Transposition& matrix, const char* source, char* target, int64_t rows, int64_t columns) {
  if (columns == 3) {
    // Three columns are usually the colors of an image.
    int64_t i = 0;
#ifdef KERNELS_HAVE_SHUFFLES
    if (can_shuffle<T>() && matrix.target_stride == 3 * static_cast<int64_t>(sizeof(T))) {
      constexpr int64_t kSide = 16 / sizeof(T);
      for (; i + kSide <= rows; i += kSide) {
        copy_colors<T>(matrix, source + i * static_cast<int64_t>(sizeof(T)), target + i * matrix.target_stride);
      }
    }
#endif
    copy_rows_of<T>(matrix, source + i * static_cast<int64_t>(sizeof(T)), target + i * matrix.target_stride, rows - i,
                    std::make_integer_sequence<int, 3>());
    return;
  }
  for (int64_t i = 0; i < rows; ++i) {
    const char* from = source + i * static_cast<int64_t>(sizeof(T));
    char* to = target + i * matrix.target_stride;
    for (int64_t j = 0; j < columns; ++j) {
      std::memcpy(to + j * int64_t{sizeof(T)}, from + j * matrix.source_stride, sizeof(T));
    }
  }
}

#ifdef KERNELS_HAVE_SHUFFLES

/// Copies a square with as many rows and columns as a vector has lanes.
template <typename T>
KERNELS_ALWAYS_INLINE inline void copy_square(const Transposition& matrix, const char* source, char* target) {
  constexpr int kSide = 16 / sizeof(T);
  simd::Vector<T, 16> lines[kSide];
  KERNELS_LANES
  for (int k = 0; k < kSide; ++k) {
    lines[k] = simd::load_as<simd::Vector<T, 16>>(source + k * matrix.source_stride);
  }
  simd::transpose(lines);
  KERNELS_LANES
  for (int k = 0; k < kSide; ++k) {
    simd::store(target + k * matrix.target_stride, lines[k]);
  }
}

template <typename T>
void copy_tile(const Transposition& matrix, const char* source, char* target, int64_t rows, int64_t columns) {
  constexpr int64_t kSize = sizeof(T);
  constexpr int64_t kSide = 16 / kSize;
  // Rows at a stride of a power of two map to the same cache sets. The loop therefore works on few rows of the target
  // at a time.
  constexpr int64_t kRows = std::max<int64_t>(8, kSide);
  const int64_t square_columns = columns / kSide * kSide;
  int64_t i = 0;
  for (; square_columns > 0 && i + kRows <= rows; i += kRows) {
    for (int64_t j = 0; j < square_columns; j += kSide) {
      for (int64_t k = i; k < i + kRows; k += kSide) {
        copy_square<T>(matrix, source + k * kSize + j * matrix.source_stride,
                       target + k * matrix.target_stride + j * kSize);
      }
    }
    copy_strips<T>(matrix, source + i * kSize + square_columns * matrix.source_stride,
                   target + i * matrix.target_stride + square_columns * kSize, kRows, columns - square_columns);
  }
  copy_strips<T>(matrix, source + i * kSize, target + i * matrix.target_stride, rows - i, columns);
}

#else

template <typename T>
void copy_tile(const Transposition& matrix, const char* source, char* target, int64_t rows, int64_t columns) {
  copy_strips<T>(matrix, source, target, rows, columns);
}

#endif

}  // namespace

void copy_transposition(const Transposition& matrix, const char* source, char* target, int64_t rows, int64_t columns) {
  for (int64_t start = 0; start < columns; start += kTransposedTile) {
    const int64_t n = std::min(kTransposedTile, columns - start);
    const char* from = source + start * matrix.source_stride;
    char* to = target + start * matrix.element_size;
    switch (matrix.element_size) {
      case 1:
        copy_tile<uint8_t>(matrix, from, to, rows, n);
        break;
      case 2:
        copy_tile<uint16_t>(matrix, from, to, rows, n);
        break;
      case 4:
        copy_tile<uint32_t>(matrix, from, to, rows, n);
        break;
      default:
        copy_tile<uint64_t>(matrix, from, to, rows, n);
        break;
    }
  }
}

}  // namespace rules_executorch::kernels
