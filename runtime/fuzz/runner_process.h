#pragma once

#include <string>
#include <vector>

namespace rules_executorch {

// What a runner did in a process of its own.
struct RunnerResult {
  std::string crash;  // the signal that ended the process, or that it took too long; else empty
  int status = 0;     // the exit status of a process that did not crash
  std::string text;   // what the process wrote to stderr
};

// Runs the runner that is linked, with limited time and memory.
//
// Args:
//   arguments: the flags of the runner.
//   log: a file for its stderr.
RunnerResult RunInProcess(const std::vector<std::string>& arguments, const std::string& log);

}  // namespace rules_executorch
