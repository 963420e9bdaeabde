#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>

#include "kernels/common/strided_view.h"

namespace rules_executorch::kernels {

/// Elements of a mask that are true: calls `visit` with the number of each in the order of the indices, whatever the
/// mask's strides. A mask may be of any dtype, whose elements are read as Bools.
void for_each_true(const ConstStridedView& mask, ::executorch::runtime::FunctionRef<void(int64_t i)> visit);

/// How many of them there are.
int64_t count_true(const ConstStridedView& mask);

/// Where the element with the number `i` in the order of the indices lies, in bytes from the first one.
int64_t offset_of(const StridedShape& shape, int64_t i);

}  // namespace rules_executorch::kernels
