#pragma once

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Resizes `out` to the shape of `view`. Returns false if `out` cannot have this shape.
bool resize_to_shape_of(Tensor& out, const StridedShape& view);

/// Whether `view` is broadcastable to the shape of `shape`. `view` must not have more dimensions, not even of size 1.
bool broadcasts_to(const StridedShape& view, const StridedShape& shape);

/// Sets `shape` to the shape that `a` and `b` broadcast to. Returns false if they do not broadcast.
bool broadcast_shape(const StridedShape& a, const StridedShape& b, StridedShape& shape);

}  // namespace rules_executorch::kernels
