#pragma once

#include <string>
#include <vector>

#include "runtime/runner/compare.h"
#include "runtime/runner/runner.h"

namespace rules_executorch {

// The options of the command line.
struct Options {
  enum class Action { kRun, kHelp, kListMethods, kListOperators };

  Action action = Action::kRun;
  std::string program;
  std::vector<std::string> weights;  // empty if not specified
  bool maps_program = false;
  std::string samples;
  std::vector<std::string> methods;  // empty if not specified
  std::vector<std::string> inputs;
  bool check = false;
  Tolerance tolerance;
  int iterations = 0;
  int warmup = 1;
  int threads = 0;  // 0 if not specified
  size_t print = 10;
  bool verbose = false;
  bool memory = false;
};

// The texts that differ between kinds of runners.
struct RunnerText {
  const char* model;      // what the runner runs, e.g. `an ExecuTorch program`
  const char* extension;  // extension of the model's file, e.g. `.pte`
  const char* operators;  // description of --list_operators
  const char* threads;    // description of the default number of threads
  const char* load;       // description of --load and --weights; empty for runners without these flags
  const char* memory;     // description of --memory; empty for runners without this flag
  const char* more;       // the rest of --help: flags of this kind of runner
};

// Parses the command line. Fails if a flag is unknown or a value is invalid.
Options ParseOptions(int argc, char** argv, const RunnerDefaults& defaults, const RunnerText& text);

// The text of --help.
std::string HelpText(const std::string& binary, const RunnerDefaults& defaults, const RunnerText& text);

}  // namespace rules_executorch
