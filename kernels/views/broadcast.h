#pragma once

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Sets rank and sizes of `result` to those that two shapes broadcast to. False where they do not.
bool broadcast_shapes(const StridedShape& a, const StridedShape& b, StridedShape& result);

}  // namespace rules_executorch::kernels
