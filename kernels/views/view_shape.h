#pragma once

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Resizes `out` to view's shape. False where it cannot take it.
bool resize_to_shape_of(Tensor& out, const StridedShape& view);

/// Whether `view` can be broadcast to the shape of `shape`: it has no further dimensions, not even of size 1.
bool broadcasts_to(const StridedShape& view, const StridedShape& shape);

/// Makes `shape` what `a` and `b` broadcast to. False where they do not.
bool broadcast_shape(const StridedShape& a, const StridedShape& b, StridedShape& shape);

}  // namespace rules_executorch::kernels
