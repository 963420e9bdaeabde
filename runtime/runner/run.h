#pragma once

#include "runtime/runner/model.h"
#include "runtime/runner/options.h"

namespace rules_executorch {

// Prints each method with its inputs and outputs.
void ListMethods(Model* model);

// Runs a method as the options say, and prints what comes out, or how it compares with PyTorch's outputs. `load_ms` is
// how long the model took to load. Returns the exit status.
int RunModel(Model* model, const Options& options, double load_ms);

}  // namespace rules_executorch
