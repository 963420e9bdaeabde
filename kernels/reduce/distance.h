#pragma once

#include <cstdint>

#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Rows of a matrix, `row_stride` bytes apart: elements `stride` bytes apart.
struct Rows {
  ScalarType dtype;
  const char* data;
  int64_t row_stride;
  int64_t stride;
};

/// `x` with the elements of a row next to each other in dtype `type`, in the program's memory for temporary data if
/// they do not lie so already; `x` itself where the program has none.
ConstStridedView with_dense_rows(KernelRuntimeContext& ctx, const Tensor& x, ScalarType type);

/// The p-norms of the differences of `count` rows of `n` elements each, row by row: the count of differences for 0, the
/// largest for infinity. `p` is not negative. Calculates as `T`, float or double.
template <typename T>
void distances(const Rows& a, const Rows& b, int64_t n, double p, int64_t count, T* results);

extern template void distances<float>(const Rows& a, const Rows& b, int64_t n, double p, int64_t count, float* results);
extern template void distances<double>(const Rows& a, const Rows& b, int64_t n, double p, int64_t count,
                                       double* results);

}  // namespace rules_executorch::kernels
