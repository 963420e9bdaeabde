#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/runner/flat_buffer.h"

namespace rules_executorch {

// Checks the content of a .pte file before the runtime loads it: offsets and indices are in range, each tensor has the
// memory for its shape, and this memory is in the file or in the planned buffers. The runtime only verifies the
// FlatBuffer and does not check the rest.
//
// Args:
//   refuse: is called with the error; must not return.
void CheckProgram(const uint8_t* bytes, size_t size, const std::string& path, FlatBuffer::Refuse refuse);

}  // namespace rules_executorch
