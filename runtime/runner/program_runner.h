#pragma once

#include <executorch/runtime/core/event_tracer.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/runner/options.h"
#include "runtime/runner/run.h"
#include "runtime/runner/runner.h"

namespace rules_executorch {

// What watches a program run.
class Profiler : public RunObserver {
 public:
  // What the runtime tells of all that it does.
  virtual std::unique_ptr<executorch::runtime::EventTracer> MakeTracer() = 0;

  // Comes before the first run, with what will run.
  virtual void Begin(const std::vector<std::string>& methods) = 0;

  // Comes after the last run, while there still is what MakeTracer made.
  virtual void Report(const Options& options) = 0;
};

// Does what the command line asks for, and returns the exit status. Call PrepareToFail before.
//   more_help: what --help prints at the end.
//   profiler: nullptr if nothing watches.
int RunProgram(int argc, char** argv, const RunnerDefaults& defaults, const char* more_help, Profiler* profiler);

}  // namespace rules_executorch
