#include "kernels/common/distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/block.h"
#include "kernels/common/convert.h"
#include "kernels/common/extremes.h"
#include "kernels/common/vector_math.h"
#include "kernels/common/vectorize.h"

namespace rules_executorch::kernels {
namespace {

/// Elements of `row` from `start` on, where they lie or converted in `buffer`.
template <typename T>
const T* elements(const Row& row, int64_t start, int64_t n, T* buffer) {
  constexpr ScalarType kType = CppTypeToScalarType<T>::value;
  const char* const first = row.data + start * row.stride;
  if (row.dtype == kType && row.stride == sizeof(T)) {
    return reinterpret_cast<const T*>(first);
  }
  load_block(row.dtype, first, row.stride, kType, buffer, n);
  return buffer;
}

/// Combines `map(difference)` of all elements.
template <typename T, typename Map, typename Combine>
T combine_differences(const Row& a, const Row& b, int64_t n, const Map& map, const Combine& combine) {
  constexpr int64_t kLanes = LaneReduction<T>::kLanes;
  T lanes[kLanes] = {};
  for (int64_t start = 0; start < n; start += kBlockSize) {
    const int64_t count = std::min(kBlockSize, n - start);
    alignas(16) T a_buffer[kBlockSize];
    alignas(16) T b_buffer[kBlockSize];
    const T* x = elements(a, start, count, a_buffer);
    const T* y = elements(b, start, count, b_buffer);
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      KERNELS_INDEPENDENT_ITERATIONS
      for (int64_t k = 0; k < kLanes; ++k) {
        lanes[k] = combine(lanes[k], map(std::abs(x[i + k] - y[i + k])));
      }
    }
    for (int64_t k = 0; i < count; ++i, ++k) {
      lanes[k] = combine(lanes[k], map(std::abs(x[i] - y[i])));
    }
  }
  LaneReduction<T> total(0);
  total.add(kLanes, lanes, combine);
  return total.result(combine);
}

}  // namespace

template <typename T>
T distance(const Row& a, const Row& b, int64_t n, double p) {
  const auto plus = [](T x, T y) { return x + y; };
  const auto itself = [](T x) { return x; };
  if (p == 0) {
    return combine_differences<T>(a, b, n, [](T x) { return x != x ? x : T(x != 0); }, plus);
  }
  if (p == 1) {
    return combine_differences<T>(a, b, n, itself, plus);
  }
  if (p == 2) {
    return std::sqrt(combine_differences<T>(a, b, n, [](T x) { return x * x; }, plus));
  }
  if (p == std::numeric_limits<double>::infinity()) {
    return combine_differences<T>(a, b, n, itself, [](T x, T y) { return larger(x, y); });
  }
  const T power = static_cast<T>(p);
  const auto to_power = [power](T x) KERNELS_ALWAYS_INLINE { return math::pow(x, power); };
  return math::pow(combine_differences<T>(a, b, n, to_power, plus), 1 / power);
}

template float distance<float>(const Row& a, const Row& b, int64_t n, double p);
template double distance<double>(const Row& a, const Row& b, int64_t n, double p);

}  // namespace rules_executorch::kernels
