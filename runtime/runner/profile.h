#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/runner/run.h"

namespace rules_executorch {

// The name of the block without events that precedes the first run of a kind in an ETDump.
const char* Mark(RunKind kind);

// The event of a part of a delegate's work.
struct DelegateEvent {
  std::string name;
  uint64_t ticks;
};

// One instruction of a method, in one run.
struct InstructionEvent {
  int64_t chain;
  int64_t instruction;
  uint64_t ticks;
  std::vector<DelegateEvent> delegate;
};

// One run of a method.
struct ProfiledRun {
  RunKind kind = RunKind::kFirst;
  uint64_t ticks = 0;
  std::vector<InstructionEvent> instructions;
};

// The runs of a method in an ETDump, without the loading of the method.
std::vector<ProfiledRun> ReadRuns(const uint8_t* etdump, size_t size);

// The operators that the instructions of a method call, e.g. `aten::add.out`, by chain and instruction.
std::vector<std::vector<std::string>> InstructionNames(const uint8_t* program, size_t size, const std::string& path,
                                                       const std::string& method);

// The times by operator and by instruction as text: medians over the timed runs, or over the first runs if none is
// timed.
std::string ProfileText(const std::vector<ProfiledRun>& runs, const std::vector<std::vector<std::string>>& names);

}  // namespace rules_executorch
