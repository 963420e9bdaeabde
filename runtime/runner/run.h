#pragma once

#include <string>
#include <vector>

#include "runtime/runner/model.h"
#include "runtime/runner/options.h"

namespace rules_executorch {

// Prints each method with its inputs and outputs.
void ListMethods(Model* model);

// What a run is for: its outputs, to be repeated before the timed runs, or its time.
enum class RunKind { kFirst, kWarmUp, kTimed };

// What is told of runs.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  // Comes before each run; those of a kind go through the samples in turn.
  virtual void Prepare(RunKind kind) = 0;
};

// The methods that the options ask for: those that are named; otherwise all to check them, or else forward.
std::vector<std::string> MethodsToRun(Model* model, const Options& options);

// Runs these methods, and prints what comes out, or how it compares with PyTorch's outputs. `load_ms` is how long the
// model took to load; `observer` is nullptr if nothing is told of the runs. Returns the exit status.
int RunModel(Model* model, const std::vector<std::string>& methods, const Options& options, double load_ms,
             RunObserver* observer);

}  // namespace rules_executorch
