#pragma once

#include <string>
#include <vector>

#include "runtime/compare.h"
#include "runtime/runner.h"

namespace rules_executorch {

// What the command line asks for.
struct Options {
  enum class Action { kRun, kHelp, kListMethods, kListOperators };

  Action action = Action::kRun;
  std::string program;
  std::string samples;
  std::string method = "forward";
  std::vector<std::string> inputs;
  bool check = false;
  Tolerance tolerance = {0, 0};
  int iterations = 0;
  int warmup = 1;
  size_t print = 10;
  bool verbose = false;
};

// Reads the command line; fails on a flag that does not exist or a value that does not fit.
Options ParseOptions(int argc, char** argv, const RunnerDefaults& defaults);

// The text of --help.
std::string HelpText(const std::string& binary, const RunnerDefaults& defaults);

}  // namespace rules_executorch
