#pragma once

#include "runtime/runner/runner.h"

namespace rules_executorch {

// The main function of every binary that torch_aoti_binary and torch_aoti_test build; --help describes it.
// Returns the exit status: 0, or 1 if something failed or an output differed.
int AotiRunnerMain(int argc, char** argv, const RunnerDefaults& defaults);

}  // namespace rules_executorch
