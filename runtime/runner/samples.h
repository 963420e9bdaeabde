#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/runner/value.h"

namespace rules_executorch {

// The inputs and PyTorch's outputs of one run of a method.
struct Sample {
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  bool quantized = false;   // whether PyTorch's outputs are of weights that were quantized before the export
  double error_growth = 1;  // Tolerance::error_growth
};

// Reads the samples of a method from a .ptd file with the keys `<method>/<sample>/input/<index>` and
// `<method>/<sample>/output/<index>`, `<method>/<sample>/quantized` for outputs of quantized weights, and
// `<method>/<sample>/error_growth`, a float64, for a program with larger rounding errors than PyTorch's. The samples
// are in the order of their execution. A missing index is None. Fails if the file cannot be read or has no sample of
// the method.
std::vector<Sample> ReadSamples(const std::string& path, const std::string& method, size_t num_inputs,
                                size_t num_outputs);

}  // namespace rules_executorch
