#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// Copies `n` elements of `element_size` bytes. The elements on one side are at `offsets`, on the other side they are
/// `stride` bytes apart. All offsets are in bytes.
void gather_elements(const char* source, const int64_t* offsets, char* target, int64_t stride, int64_t element_size,
                     int64_t n);
void scatter_elements(const char* source, int64_t stride, char* target, const int64_t* offsets, int64_t element_size,
                      int64_t n);

}  // namespace rules_executorch::kernels
