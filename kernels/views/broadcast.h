#pragma once

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Sets rank and sizes of `result` to the shape that `a` and `b` broadcast to. Returns false if they do not broadcast.
bool broadcast_shapes(const StridedShape& a, const StridedShape& b, StridedShape& result);

}  // namespace rules_executorch::kernels
