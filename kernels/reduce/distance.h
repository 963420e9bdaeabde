#pragma once

#include <cstdint>

#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// The rows of a matrix. `row_stride` and `stride` are the strides of rows and of the elements of a row, in bytes.
struct Rows {
  ScalarType dtype;
  const char* data;
  int64_t row_stride;
  int64_t stride;
};

/// Returns `x` if its rows are contiguous and of dtype `type`. Otherwise returns a converted contiguous copy in the
/// program's temporary memory, or `x` if the program has no temporary memory.
ConstStridedView with_dense_rows(KernelRuntimeContext& ctx, const Tensor& x, ScalarType type);

/// The p-norms of the differences of `count` pairs of rows of `n` elements each. For p = 0, the number of different
/// elements; for infinity, the largest difference. `p` must not be negative. The computation is in `T`, float or
/// double.
template <typename T>
void distances(const Rows& a, const Rows& b, int64_t n, double p, int64_t count, T* results);

extern template void distances<float>(const Rows& a, const Rows& b, int64_t n, double p, int64_t count, float* results);
extern template void distances<double>(const Rows& a, const Rows& b, int64_t n, double p, int64_t count,
                                       double* results);

}  // namespace rules_executorch::kernels
