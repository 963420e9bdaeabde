#pragma once

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Sets `shape` to `size` for a tensor of `numel` elements. A single -1 in `size` is replaced by the remaining factor.
/// Returns false if a tensor of `numel` elements cannot have the shape.
bool make_reshaped_shape(int64_t numel, const ArrayRef<int64_t>& size, StridedShape& shape);

/// Copies the elements of `source` in row-major order to the elements of `target` in row-major order. Both have the
/// same dtype and the same number of elements. Their shapes and strides may differ.
void copy_reshaped(const ConstStridedView& source, const StridedView& target);

}  // namespace rules_executorch::kernels
