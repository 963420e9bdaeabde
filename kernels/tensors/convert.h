#pragma once

#include <cstdint>

#include "kernels/parallel/block.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Converts `n` contiguous elements as `convert_value` does. From complex to real dtypes, the imaginary part is
/// dropped, except for Bool, which is true if one of both parts is not 0. Both dtypes must be movable. `source` and
/// `target` must not overlap.
void convert_elements(ScalarType from, const void* source, ScalarType to, void* target, int64_t n);

/// Copies `n` elements of `element_size` bytes. Strides are in bytes. A source stride of 0 repeats the element.
void copy_elements(const void* source, int64_t source_stride, void* target, int64_t target_stride, int64_t element_size,
                   int64_t n);

/// Reads `n` elements, `stride` bytes apart, and writes them to `target` as contiguous elements of dtype `to`. `n` is
/// at most kBlockSize.
void load_block(ScalarType from, const void* source, int64_t stride, ScalarType to, void* target, int64_t n);

/// Reads `n` contiguous elements of dtype `from`, and writes them to `target` as elements of dtype `to`, `stride` bytes
/// apart. `n` is at most kBlockSize.
void store_block(ScalarType from, const void* source, ScalarType to, void* target, int64_t stride, int64_t n);

}  // namespace rules_executorch::kernels
