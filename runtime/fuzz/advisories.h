#pragma once

#include <string>
#include <vector>

#include "runtime/fuzz/mutation.h"

namespace rules_executorch {

// A program with a defect of the class that a security advisory names.
struct Advisory {
  std::string name;  // the advisory, and the place of the defect
  Bytes program;
  std::string error;  // a part of the runner's error
};

// Programs with the defects of ExecuTorch's security advisories of 2025, all of which are about the loading of programs
// and methods. An advisory only says what the runtime does with a damaged program, so that each has a program for every
// place where a number of the file leads to this.
//
// Args:
//   program: a program with constants, state, lists of tensors, branches and segments.
std::vector<Advisory> MakeAdvisories(const Bytes& program);

}  // namespace rules_executorch
