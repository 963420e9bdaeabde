#include "kernels/reduce/distance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/copy/copy.h"
#include "kernels/math/extremes.h"
#include "kernels/math/vector_math.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/simd/run_time.h"
#include "kernels/simd/vector.h"
#include "kernels/simd/width.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {
namespace {

/// `n` elements of a row from `start` on: a pointer to the row if the elements are contiguous and of type T, otherwise
/// `buffer` with converted elements.
template <typename T>
const T* elements(const Rows& rows, int64_t row, int64_t start, int64_t n, T* buffer) {
  constexpr ScalarType kType = CppTypeToScalarType<T>::value;
  const char* const first = rows.data + row * rows.row_stride + start * rows.stride;
  if (rows.dtype == kType && rows.stride == sizeof(T)) {
    return reinterpret_cast<const T*>(first);
  }
  load_block(rows.dtype, first, rows.stride, kType, buffer, n);
  return buffer;
}

/// For each pair of rows, `finish` of the combined `map(difference)`. With kIsLong, the loop is not unrolled, because
/// `map` takes many instructions.
template <bool kIsLong = false, typename T, typename Map, typename Combine, typename Finish>
void combine_differences(const Rows& a, const Rows& b, int64_t n, int64_t count, T* results, const Map& map,
                         const Combine& combine, const Finish& finish) {
  constexpr int64_t kLanes = 16;
  for (int64_t row = 0; row < count; ++row) {
    T lanes[kLanes] = {};
    for (int64_t start = 0; start < n; start += kBlockSize) {
      const int64_t part = std::min(kBlockSize, n - start);
      alignas(16) T a_buffer[kBlockSize];
      alignas(16) T b_buffer[kBlockSize];
      const T* const x = elements(a, row, start, part, a_buffer);
      const T* const y = elements(b, row, start, part, b_buffer);
      int64_t i = 0;
      for (; i + kLanes <= part; i += kLanes) {
        if constexpr (kIsLong) {
          KERNELS_INDEPENDENT_ITERATIONS
          for (int64_t k = 0; k < kLanes; ++k) {
            lanes[k] = combine(lanes[k], map(std::abs(x[i + k] - y[i + k])));
          }
        } else {
          KERNELS_LANES
          for (int64_t k = 0; k < kLanes; ++k) {
            lanes[k] = combine(lanes[k], map(std::abs(x[i + k] - y[i + k])));
          }
        }
      }
      for (int64_t k = 0; i < part; ++i, ++k) {
        lanes[k] = combine(lanes[k], map(std::abs(x[i] - y[i])));
      }
    }
    merge_lanes<kLanes / 2>(lanes, [&](T& into, T other) { into = combine(into, other); });
    results[row] = finish(lanes[0]);
  }
}

#if defined(__GNUC__)

/// Adds the squared differences of `n` elements to the accumulators of kPairs pairs of rows. `n` must be a multiple of
/// kLanes.
template <typename T, int kPairs, int kBytes>
KERNELS_ALWAYS_INLINE inline void add_squares_of(const T* const* x, const T* const* y, int64_t n, T* lanes) {
  using Vector = simd::Vector<T, kBytes>;
  constexpr int64_t kLanes = LaneReduction<T>::kLanes;
  constexpr int kVectors = kLanes * sizeof(T) / kBytes;
  Vector sums[kPairs][kVectors];
  std::memcpy(sums, lanes, sizeof(sums));
  for (int64_t i = 0; i < n; i += kLanes) {
#pragma GCC unroll 4
    for (int pair = 0; pair < kPairs; ++pair) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        Vector difference;
        Vector right;
        std::memcpy(&difference, x[pair] + i + v * (kLanes / kVectors), kBytes);
        std::memcpy(&right, y[pair] + i + v * (kLanes / kVectors), kBytes);
        difference -= right;
        sums[pair][v] += difference * difference;
      }
    }
  }
  std::memcpy(lanes, sums, sizeof(sums));
}

template <typename T, int kPairs>
void add_squares(const T* const* x, const T* const* y, int64_t n, T* lanes) {
  add_squares_of<T, kPairs, kVectorBytes>(x, y, n, lanes);
}

#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)

/// The same for processors with vectors of twice the size.
template <typename T, int kPairs>
KERNELS_WIDE_VECTORS void add_squares_wide(const T* const* x, const T* const* y, int64_t n, T* lanes) {
  add_squares_of<T, kPairs, 2 * kVectorBytes>(x, y, n, lanes);
}

#endif

/// The Euclidean distances of contiguous rows of type T. Works on kPairs pairs of rows at a time.
template <typename T>
void euclidean_distances(const Rows& a, const Rows& b, int64_t n, int64_t count, T* results) {
  constexpr int64_t kLanes = LaneReduction<T>::kLanes;
  constexpr int kPairs = 16 / sizeof(T);
  auto add = &add_squares<T, kPairs>;
#if defined(KERNELS_MAY_HAVE_WIDE_VECTORS)
  if (simd::has_wide_vectors()) {
    add = &add_squares_wide<T, kPairs>;
  }
#endif
  const int64_t whole = n - n % kLanes;
  for (int64_t row = 0; row < count; row += kPairs) {
    const T* x[kPairs];
    const T* y[kPairs];
    for (int64_t pair = 0; pair < kPairs; ++pair) {
      // The last pair replaces missing pairs.
      const int64_t i = std::min(row + pair, count - 1);
      x[pair] = reinterpret_cast<const T*>(a.data + i * a.row_stride);
      y[pair] = reinterpret_cast<const T*>(b.data + i * b.row_stride);
    }
    T lanes[kPairs * kLanes] = {};
    add(x, y, whole, lanes);
    for (int64_t pair = 0; pair < std::min<int64_t>(kPairs, count - row); ++pair) {
      T* const sums = lanes + pair * kLanes;
      for (int64_t k = 0; k < n - whole; ++k) {
        const T difference = x[pair][whole + k] - y[pair][whole + k];
        sums[k] += difference * difference;
      }
      merge_lanes<kLanes / 2>(sums, [](T& into, T other) { into += other; });
      results[row + pair] = std::sqrt(sums[0]);
    }
  }
}

#endif

}  // namespace

ConstStridedView with_dense_rows(KernelRuntimeContext& ctx, const Tensor& x, ScalarType type) {
  const ConstStridedView view(x);
  if (view.numel() == 0 || (view.dtype == type && view.strides[view.rank - 1] == 1)) {
    return view;
  }
  StridedView dense;
  static_cast<StridedShape&>(dense) = view.contiguous(type);
  const auto memory = ctx.allocate_temp(static_cast<size_t>(dense.numel() * dense.element_size()), alignof(Block));
  if (!memory.ok()) {
    return view;
  }
  dense.data = static_cast<char*>(*memory);
  copy(view, dense);
  return dense;
}

template <typename T>
void distances(const Rows& a, const Rows& b, int64_t n, double p, int64_t count, T* results) {
  const auto plus = [](T x, T y) { return x + y; };
  const auto itself = [](T x) { return x; };
  if (p == 0) {
    combine_differences(a, b, n, count, results, [](T x) { return x != x ? x : T(x != 0); }, plus, itself);
  } else if (p == 1) {
    combine_differences(a, b, n, count, results, itself, plus, itself);
  } else if (p == 2) {
#if defined(__GNUC__)
    const auto in_memory = [](const Rows& rows) {
      return rows.dtype == CppTypeToScalarType<T>::value && rows.stride == sizeof(T);
    };
    if (in_memory(a) && in_memory(b)) {
      euclidean_distances(a, b, n, count, results);
      return;
    }
#endif
    combine_differences(a, b, n, count, results, [](T x) { return x * x; }, plus, [](T x) { return std::sqrt(x); });
  } else if (p == std::numeric_limits<double>::infinity()) {
    combine_differences(a, b, n, count, results, itself, [](T x, T y) { return larger(x, y); }, itself);
  } else {
    const T power = static_cast<T>(p);
    combine_differences</*kIsLong=*/true>(
        a, b, n, count, results, [power](T x) KERNELS_ALWAYS_INLINE { return math::pow(x, power); }, plus,
        [power](T x) { return math::pow(x, 1 / power); });
  }
}

template void distances<float>(const Rows& a, const Rows& b, int64_t n, double p, int64_t count, float* results);
template void distances<double>(const Rows& a, const Rows& b, int64_t n, double p, int64_t count, double* results);

}  // namespace rules_executorch::kernels
