#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/runner/flat_buffer.h"
#include "runtime/runner/flat_file.h"

namespace rules_executorch {

// Checks the content of a .pte file before the runtime loads it: offsets and indices are in range, each tensor has the
// memory for its shape, and this memory is in the file, in the planned buffers or in another file. The runtime only
// verifies the FlatBuffer and does not check the rest. Returns the data that must be in another file.
//
// Args:
//   refuse: is called with the error; must not return.
std::vector<ExternalData> CheckProgram(const uint8_t* bytes, size_t size, const std::string& path,
                                       FlatBuffer::Refuse refuse);

}  // namespace rules_executorch
