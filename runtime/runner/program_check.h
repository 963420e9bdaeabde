#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/runner/flat_buffer.h"

namespace rules_executorch {

// Checks the content of a .pte file before the runtime sees it: where offsets and indices lead, that every tensor has
// the memory which its shape needs, and that the memory is in the file or in the buffers that the program plans. The
// runtime verifies the FlatBuffer alone, and takes the rest for granted.
//
// Args:
//   refuse: gets what is wrong; must not return.
void CheckProgram(const uint8_t* bytes, size_t size, const std::string& path, FlatBuffer::Refuse refuse);

}  // namespace rules_executorch
