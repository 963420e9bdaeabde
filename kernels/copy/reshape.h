#pragma once

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// The shape that `size` asks for a tensor of `numel` elements; one -1 in it stands for what remains. False where such
/// a tensor cannot have that shape.
bool make_reshaped_shape(int64_t numel, const ArrayRef<int64_t>& size, StridedShape& shape);

/// Copies `source`'s elements to `target`, of the same dtype and number of elements but perhaps another shape: the
/// first in the order of their indices to the first, and so on, whatever the strides of the two.
void copy_reshaped(const ConstStridedView& source, const StridedView& target);

}  // namespace rules_executorch::kernels
