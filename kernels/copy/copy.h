#pragma once

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Copies `source` to `target` and converts to the dtype of `target`. Both views have the same shape and do not
/// overlap.
void copy(const ConstStridedView& source, const StridedView& target);

/// Copies `in` to `out` and converts to the dtype of `out`. Both tensors have the same shape.
inline void copy(const Tensor& in, Tensor& out) { copy(ConstStridedView(in), StridedView(out)); }

}  // namespace rules_executorch::kernels
