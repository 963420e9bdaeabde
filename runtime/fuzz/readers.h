#pragma once

#include <string>

#include "runtime/fuzz/mutation.h"

namespace rules_executorch {

// Reads a file as the runner would. The first bytes give the kind: a program, which ExecuTorch also loads and runs,
// with kernels that only read the memory of their arguments; samples; else the text of an --input.
//
// Returns the error of the runner, or an empty text.
std::string ReadAnyFile(const Bytes& file);

}  // namespace rules_executorch
