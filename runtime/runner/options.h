#pragma once

#include <string>
#include <vector>

#include "runtime/runner/compare.h"
#include "runtime/runner/runner.h"

namespace rules_executorch {

// What the command line asks for.
struct Options {
  enum class Action { kRun, kHelp, kListMethods, kListOperators };

  Action action = Action::kRun;
  std::string program;
  std::string samples;
  std::vector<std::string> methods;  // Empty if nothing says which.
  std::vector<std::string> inputs;
  bool check = false;
  Tolerance tolerance = {0, 0};
  int iterations = 0;
  int warmup = 1;
  int threads = 0;  // 0 if the command line does not say.
  size_t print = 10;
  bool verbose = false;
};

// What differs in the words of one kind of runner and another.
struct RunnerText {
  const char* model;      // What it runs, e.g. `an ExecuTorch program`.
  const char* extension;  // Of the model's file, e.g. `.pte`.
  const char* operators;  // What --list_operators does.
  const char* threads;    // How many an inference has by default.
  const char* more;       // The rest of --help: flags that this kind of runner alone has.
};

// Reads the command line; fails on a flag that does not exist or a value that does not fit.
Options ParseOptions(int argc, char** argv, const RunnerDefaults& defaults, const RunnerText& text);

// The text of --help.
std::string HelpText(const std::string& binary, const RunnerDefaults& defaults, const RunnerText& text);

}  // namespace rules_executorch
