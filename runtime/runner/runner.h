#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rules_executorch {

// The settings with which a binary was built. Flags of the same names override them.
struct RunnerDefaults {
  std::string program;                    // runfiles path of the .pte file; empty if there is none
  std::vector<std::string> weights = {};  // runfiles paths of the .weights.ptd files of its constants
  std::string samples;                    // runfiles path of its .ptd file; empty if there is none
  bool check = false;               // whether the binary is a test, which compares outputs with those of the samples
  std::optional<double> rtol = {};  // tolerance for the difference from PyTorch's: atol + rtol * |expected|
  std::optional<double> atol = {};  // without both, and without min_snr: by dtype, see compare.h
  double min_snr = 0;               // if greater than 0: required decibels, replaces rtol and atol
  std::vector<std::string> methods = {};  // methods that a test checks; empty: all; the flag is --method
  std::string numbers = {};  // the target that compares the program with PyTorch node by node; empty if there is none
};

// The main function of every binary that executorch_binary and executorch_program_test build; --help describes it.
// Returns the exit status: 0, or 1 if something failed or an output differed.
int RunnerMain(int argc, char** argv, const RunnerDefaults& defaults);

// The same for a binary with --profile.
int ProfilingRunnerMain(int argc, char** argv, const RunnerDefaults& defaults);

// The same for a binary that compares the results of instructions with PyTorch's values.
int NumbersRunnerMain(int argc, char** argv, const RunnerDefaults& defaults);

}  // namespace rules_executorch
