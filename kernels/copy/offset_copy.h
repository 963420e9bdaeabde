#pragma once

#include <cstdint>

namespace rules_executorch::kernels {

/// Copies `n` elements of `element_size` bytes between two memories: those of one lie where `offsets` say, those of the
/// other `stride` bytes apart. All in bytes.
void gather_elements(const char* source, const int64_t* offsets, char* target, int64_t stride, int64_t element_size,
                     int64_t n);
void scatter_elements(const char* source, int64_t stride, char* target, const int64_t* offsets, int64_t element_size,
                      int64_t n);

}  // namespace rules_executorch::kernels
