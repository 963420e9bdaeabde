#pragma once

#include <string>
#include <vector>

namespace rules_executorch {

// What a binary was built with. The flags of the same names override it.
struct RunnerDefaults {
  std::string program;  // Runfiles path of the .pte file; empty if there is none.
  std::string samples;  // Runfiles path of its .ptd file; empty if there is none.
  bool check = false;   // Whether the binary is a test: compares outputs with those in the samples.
  double rtol = 1e-5;   // How far an output may be from PyTorch's: atol + rtol * |expected|.
  double atol = 1e-5;
  double min_snr = 0;  // If more than 0: how many decibels an output needs, in place of the two above.
  std::vector<std::string> methods = {};  // Those that a test checks; empty: all. --method is the flag.
};

// The main function of every binary that executorch_binary and executorch_program_test build; --help describes it.
// Returns the exit status: 0, or 1 if something failed or an output differed.
int RunnerMain(int argc, char** argv, const RunnerDefaults& defaults);

// The same for a binary that takes --profile, too.
int ProfilingRunnerMain(int argc, char** argv, const RunnerDefaults& defaults);

}  // namespace rules_executorch
