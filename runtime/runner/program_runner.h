#pragma once

#include <executorch/runtime/core/event_tracer.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/runner/options.h"
#include "runtime/runner/run.h"
#include "runtime/runner/runner.h"

namespace rules_executorch {

// An observer of the execution of a program.
class Profiler : public RunObserver {
 public:
  // The tracer that receives all events of the runtime.
  virtual std::unique_ptr<executorch::runtime::EventTracer> MakeTracer() = 0;

  // Called before the first run, with the methods that will run.
  virtual void Begin(const std::vector<std::string>& methods) = 0;

  // Called after the last run, while the tracer of MakeTracer still exists.
  virtual void Report(const Options& options) = 0;
};

// Executes the command line and returns the exit status. Call PrepareToFail before.
//   more_help: text at the end of --help.
//   profiler: nullptr for none.
int RunProgram(int argc, char** argv, const RunnerDefaults& defaults, const char* more_help, Profiler* profiler);

}  // namespace rules_executorch
