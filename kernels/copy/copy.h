#pragma once

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Copies `source`'s elements to `target`, which has the same shape, converting the dtype. The two do not overlap.
void copy(const ConstStridedView& source, const StridedView& target);

/// Copies `in`'s elements to `out`, which has the same shape, converting the dtype.
inline void copy(const Tensor& in, Tensor& out) { copy(ConstStridedView(in), StridedView(out)); }

}  // namespace rules_executorch::kernels
