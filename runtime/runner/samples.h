#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/runner/value.h"

namespace rules_executorch {

// One run of a method as PyTorch did it.
struct Sample {
  std::vector<Value> inputs;
  std::vector<Value> outputs;
};

// Reads the samples of a method from a .ptd file whose keys are `<method>/<sample>/input/<index>` and
// `<method>/<sample>/output/<index>`, in the order in which they ran. An index that is not there is None.
// Fails if the file cannot be read, or has no sample of the method.
std::vector<Sample> ReadSamples(const std::string& path, const std::string& method, size_t num_inputs,
                                size_t num_outputs);

}  // namespace rules_executorch
