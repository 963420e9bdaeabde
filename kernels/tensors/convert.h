#pragma once

#include <cstdint>

#include "kernels/parallel/block.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Converts `n` contiguous elements as `convert_value` does; complex numbers lose their imaginary parts, except where
/// they become complex numbers or Bools. Both dtypes are movable, and `source` and `target` do not overlap.
void convert_elements(ScalarType from, const void* source, ScalarType to, void* target, int64_t n);

/// Copies `n` elements of `element_size` bytes between strides in bytes. A source stride of 0 repeats the element.
void copy_elements(const void* source, int64_t source_stride, void* target, int64_t target_stride, int64_t element_size,
                   int64_t n);

/// Reads `n` elements, `stride` bytes apart, into `target` as contiguous elements of dtype `to`. For `n` up to
/// kBlockSize.
void load_block(ScalarType from, const void* source, int64_t stride, ScalarType to, void* target, int64_t n);

/// Writes `n` contiguous elements of dtype `from` to elements of dtype `to`, `stride` bytes apart. For `n` up to
/// kBlockSize.
void store_block(ScalarType from, const void* source, ScalarType to, void* target, int64_t stride, int64_t n);

}  // namespace rules_executorch::kernels
