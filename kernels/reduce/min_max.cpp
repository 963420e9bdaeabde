#include "kernels/reduce/min_max.h"

#include <algorithm>

#include "kernels/math/extremes.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {

template <typename T>
MinMax<T> min_max(ScalarType type, const char* data, int64_t stride, int64_t n) {
  alignas(16) T values[kBlockSize];
  const auto load = [&](int64_t start, int64_t count) {
    load_block(type, data + start * stride, stride, CppTypeToScalarType<T>::value, values, count);
  };
  const auto keep_least = [](T x, T y) { return smaller(x, y); };
  const auto keep_largest = [](T x, T y) { return larger(x, y); };
  load(0, 1);
  LaneReduction<T> least(values[0]);
  LaneReduction<T> largest(values[0]);
  for (int64_t start = 0; start < n; start += kBlockSize) {
    const int64_t part = std::min(kBlockSize, n - start);
    load(start, part);
    least.add(part, values, keep_least);
    largest.add(part, values, keep_largest);
  }
  return {least.result(keep_least), largest.result(keep_largest)};
}

template MinMax<float> min_max(ScalarType, const char*, int64_t, int64_t);
template MinMax<double> min_max(ScalarType, const char*, int64_t, int64_t);

}  // namespace rules_executorch::kernels
