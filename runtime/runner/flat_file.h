#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/runner/flat_buffer.h"
#include "runtime/runner/value.h"

namespace rules_executorch {

// What .pte and .ptd files have in common: a FlatBuffer with a header in it, and segments behind it.

// A part of a file, in bytes from its beginning.
struct Range {
  size_t begin;
  size_t size;
};

// The segments of a file that is `size` bytes long. None may lie in the FlatBuffer: a program may write to what is in
// them.
std::vector<Range> ReadSegments(const FlatBuffer& file, const FlatBuffer::Vector& segments, uint64_t begin,
                                size_t size);

// The layout that a table gives, with the dtype in its first field; `what` is whose it is.
Layout ReadLayout(const FlatBuffer& file, size_t table, int sizes, int dim_order, const std::string& what);

}  // namespace rules_executorch
