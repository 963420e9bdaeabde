#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Copies `source` to `target` and converts to the dtype of `target`. Both views have the same shape and do not
/// overlap.
void copy(const ConstStridedView& source, const StridedView& target);

/// Copies `in` to `out` and converts to the dtype of `out`. Both tensors have the same shape.
inline void copy(const Tensor& in, Tensor& out) { copy(ConstStridedView(in), StridedView(out)); }

/// Copies the views `source(0)`, ..., `source(count - 1)` to `target`, one after the other along `dim`, and converts to
/// the dtype of `target`. The views have the sizes of `target` in all other dimensions. Threads call `source` at the
/// same time.
void concatenate(int64_t count, ::executorch::runtime::FunctionRef<ConstStridedView(int64_t)> source, int64_t dim,
                 const StridedView& target);

}  // namespace rules_executorch::kernels
