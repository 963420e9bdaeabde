#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/runner/flat_buffer.h"
#include "runtime/runner/value.h"

namespace rules_executorch {

// The common parts of .pte and .ptd files: a FlatBuffer with a header, and segments after it.

// A part of a file, in bytes from its start.
struct Range {
  size_t begin;
  size_t size;
};

// Data that a program needs from another file.
struct ExternalData {
  std::string key;
  size_t size;                   // in bytes
  std::optional<Layout> layout;  // of a tensor
};

// The segments of a file of `size` bytes. Segments in the FlatBuffer are refused, because a program may write to
// segments.
std::vector<Range> ReadSegments(const FlatBuffer& file, const FlatBuffer::Vector& segments, uint64_t begin,
                                size_t size);

// The layout in a table. The dtype is the first field. `what` names the owner for errors.
Layout ReadLayout(const FlatBuffer& file, size_t table, int sizes, int dim_order, const std::string& what);

}  // namespace rules_executorch
