#pragma once

#include <string>
#include <vector>

#include "runtime/runner/model.h"
#include "runtime/runner/options.h"

namespace rules_executorch {

// Prints each method with its inputs and outputs.
void ListMethods(Model* model);

// The purpose of a run: the outputs, the warm-up for timed runs, or the time.
enum class RunKind { kFirst, kWarmUp, kTimed };

// An observer of runs.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  // Called before each run. The runs of a kind cycle through the samples.
  virtual void Prepare(RunKind kind) = 0;
};

// The methods that the options select: the named methods; if none is named, all methods for a check and forward
// otherwise.
std::vector<std::string> MethodsToRun(Model* model, const Options& options);

// Runs these methods, and prints the outputs or their comparison with PyTorch's outputs. `load_ms` is the time to load
// the model. `observer` is nullptr for none. Returns the exit status.
int RunModel(Model* model, const std::vector<std::string>& methods, const Options& options, double load_ms,
             RunObserver* observer);

}  // namespace rules_executorch
