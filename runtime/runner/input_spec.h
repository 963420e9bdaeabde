#pragma once

#include <cstddef>
#include <string>

#include "runtime/runner/model.h"
#include "runtime/runner/value.h"

namespace rules_executorch {

// Creates an input from the text of an --input flag, as described by --help:
//   [SHAPE:]ones | zeros | arange | rand[:SEED] | V,V,... | @FILE
// Fails if the text, its shape or its number of values does not match the input of the program.
Value ParseInput(const std::string& spec, size_t index, const Port& expected);

}  // namespace rules_executorch
