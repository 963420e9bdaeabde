#include "runtime/runner/profile.h"

#include <executorch/runtime/platform/clock.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "runtime/runner/failure.h"
#include "runtime/runner/flat_buffer.h"
#include "runtime/runner/program_format.h"

namespace rules_executorch {
namespace {

// The field numbers of etdump_schema_flatcc.fbs, from the first field of each table.
enum EtDumpField { kEtDumpVersion, kEtDumpRunData };
enum RunDataField { kRunDataName, kRunDataBundledInputIndex, kRunDataAllocators, kRunDataEvents };
enum EventField { kEventProfileEvent };
enum ProfileEventField {
  kProfileEventName,
  kProfileEventChainIndex,
  kProfileEventInstructionId,
  kProfileEventDelegateDebugIdInt,
  kProfileEventDelegateDebugIdStr,
  kProfileEventDelegateDebugMetadata,
  kProfileEventStartTime,
  kProfileEventEndTime,
};

// An ETDump starts with its size.
constexpr size_t kSizePrefix = sizeof(uint32_t);
// The largest number of printed instructions, the slowest first.
constexpr size_t kShownInstructions = 30;

[[noreturn]] void RefuseProfile(const std::string&, const std::string& found) {
  Fail("the profile that ExecuTorch made cannot be read: " + found + ".",
       "the memory for it ran out, or the runtime is of another version than the headers.",
       "profile fewer runs, with a smaller --iterations.");
}

[[noreturn]] void RefuseProgram(const std::string& path, const std::string& found) {
  Fail("cannot read the program " + path + ": " + found + ".", "the file was changed while the program ran.",
       "profile the program again.");
}

// The text of a field, or an empty text if the table does not have the field.
std::string TextOrNone(const FlatBuffer& file, size_t table, int field) {
  return file.Field(table, field) == 0 ? "" : std::string(file.Text(table, field));
}

// The number in a field, or -1 if the table does not have the field.
int64_t NumberOrNone(const FlatBuffer& file, size_t table, int field) {
  return file.Field(table, field) == 0 ? -1 : file.Number<int32_t>(table, field);
}

ProfiledRun ReadRun(const FlatBuffer& file, size_t data) {
  ProfiledRun run;
  std::vector<DelegateEvent> delegate;
  const FlatBuffer::Vector events = file.Tables(data, kRunDataEvents);
  for (size_t i = 0; i < events.size; ++i) {
    const size_t event = file.Table(events, i);
    if (file.Field(event, kEventProfileEvent) == 0) {
      continue;
    }
    const size_t profile = file.Child(event, kEventProfileEvent);
    const std::string name = TextOrNone(file, profile, kProfileEventName);
    const uint64_t ticks =
        file.Number<uint64_t>(profile, kProfileEventEndTime) - file.Number<uint64_t>(profile, kProfileEventStartTime);
    const int64_t delegate_id = NumberOrNone(file, profile, kProfileEventDelegateDebugIdInt);
    const std::string delegate_name = TextOrNone(file, profile, kProfileEventDelegateDebugIdStr);
    if (delegate_id >= 0 || !delegate_name.empty()) {
      // Inner events end first: those of a delegate come before the call of the delegate.
      delegate.push_back({delegate_name.empty() ? std::to_string(delegate_id) : delegate_name, ticks});
    } else if (name == "OPERATOR_CALL" || name == "DELEGATE_CALL") {
      run.instructions.push_back({file.Number<int32_t>(profile, kProfileEventChainIndex),
                                  NumberOrNone(file, profile, kProfileEventInstructionId), ticks,
                                  std::exchange(delegate, {})});
    } else if (name == "Method::execute") {
      run.ticks = ticks;
    }
  }
  return run;
}

double Microseconds(uint64_t ticks) { return static_cast<double>(executorch::runtime::ticks_to_ns(ticks)) / 1e3; }

// The quantile of sorted numbers with linear interpolation, where `part` is e.g. 0.1.
double Quantile(const std::vector<double>& sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// The time over several runs, in microseconds.
struct Times {
  double median = 0;
  double p10 = 0;
  double p90 = 0;

  Times() = default;
  explicit Times(std::vector<double> us) {
    std::sort(us.begin(), us.end());
    median = Quantile(us, 0.5);
    p10 = Quantile(us, 0.1);
    p90 = Quantile(us, 0.9);
  }
};

// A row of a table.
struct Row {
  std::string name;
  Times us;
  size_t number = 0;  // of the instruction; or the number of an operator's instructions
  std::vector<Row> parts;
};

void SortBySlowest(std::vector<Row>* rows) {
  // With GCC's library, Clang 19 warns of a deprecated function that std::stable_sort calls.
  std::multimap<double, Row, std::greater<>> by_time;
  for (Row& row : *rows) {
    const double median = row.us.median;
    by_time.emplace(median, std::move(row));
  }
  rows->clear();
  for (auto& [median, row] : by_time) {
    rows->push_back(std::move(row));
  }
}

[[gnu::format(printf, 2, 3)]] void Append(std::string* text, const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  *text += line;
}

// The times of an instruction, or of a part of a delegate's work, in the runs that have it.
struct Measured {
  std::string name;
  std::vector<double> us;
};

struct MeasuredInstruction {
  std::vector<double> us;
  std::vector<Measured> parts;
};

// A row for each instruction that has run.
std::vector<Row> InstructionRows(const std::vector<const ProfiledRun*>& runs,
                                 const std::vector<std::vector<std::string>>& names) {
  std::map<std::pair<int64_t, int64_t>, MeasuredInstruction> measured;
  for (const ProfiledRun* run : runs) {
    // An instruction in a loop runs several times in one run of the method.
    std::map<std::pair<int64_t, int64_t>, std::pair<double, size_t>> of_run;
    for (const InstructionEvent& event : run->instructions) {
      auto& [us, part] = of_run[{event.chain, event.instruction}];
      us += Microseconds(event.ticks);
      std::vector<Measured>& parts = measured[{event.chain, event.instruction}].parts;
      for (const DelegateEvent& told : event.delegate) {
        if (part == parts.size()) {
          parts.push_back({told.name, {}});
        }
        parts[part++].us.push_back(Microseconds(told.ticks));
      }
    }
    for (const auto& [at, us_and_parts] : of_run) {
      measured[at].us.push_back(us_and_parts.first);
    }
  }
  std::vector<Row> rows;
  for (auto& [at, instruction] : measured) {
    // After the conversion, negative numbers are larger than all sizes.
    const auto chain = static_cast<size_t>(at.first);
    const auto number = static_cast<size_t>(at.second);
    const bool has_name = chain < names.size() && number < names[chain].size();
    Row row{has_name ? names[chain][number] : "?", Times(std::move(instruction.us)), number, {}};
    for (Measured& part : instruction.parts) {
      row.parts.push_back({std::move(part.name), Times(std::move(part.us)), 0, {}});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string Count(size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

const char* Mark(RunKind kind) {
  switch (kind) {
    case RunKind::kFirst:
      return "FirstRuns";
    case RunKind::kWarmUp:
      return "WarmUpRuns";
    default:
      return "TimedRuns";
  }
}

std::vector<ProfiledRun> ReadRuns(const uint8_t* etdump, size_t size) {
  const std::string path;
  if (size < kSizePrefix) {
    RefuseProfile(path, "it is empty");
  }
  const FlatBuffer file(etdump + kSizePrefix, size - kSizePrefix, path, RefuseProfile);
  const FlatBuffer::Vector blocks = file.Tables(file.Root(), kEtDumpRunData);
  std::vector<ProfiledRun> runs;
  RunKind kind = RunKind::kFirst;
  for (size_t i = 0; i < blocks.size; ++i) {
    const size_t data = file.Table(blocks, i);
    const std::string name = TextOrNone(file, data, kRunDataName);
    for (const RunKind each : {RunKind::kFirst, RunKind::kWarmUp, RunKind::kTimed}) {
      kind = name == Mark(each) ? each : kind;
    }
    if (name == "Execute") {
      runs.push_back(ReadRun(file, data));
      runs.back().kind = kind;
    }
  }
  return runs;
}

std::vector<std::vector<std::string>> InstructionNames(const uint8_t* program, size_t size, const std::string& path,
                                                       const std::string& method) {
  const FlatBuffer file(program, size, path, RefuseProgram);
  const FlatBuffer::Vector plans = file.Tables(file.Root(), kProgramExecutionPlan);
  std::vector<std::vector<std::string>> names;
  for (size_t i = 0; i < plans.size; ++i) {
    const size_t plan = file.Table(plans, i);
    if (file.Text(plan, kExecutionPlanName) != method) {
      continue;
    }
    const FlatBuffer::Vector operators = file.Tables(plan, kExecutionPlanOperators);
    const FlatBuffer::Vector delegates = file.Tables(plan, kExecutionPlanDelegates);
    const FlatBuffer::Vector chains = file.Tables(plan, kExecutionPlanChains);
    for (size_t j = 0; j < chains.size; ++j) {
      names.emplace_back();
      const FlatBuffer::Vector instructions = file.Tables(file.Table(chains, j), kChainInstructions);
      for (size_t k = 0; k < instructions.size; ++k) {
        const size_t instruction = file.Table(instructions, k);
        const auto kind = file.Number<uint8_t>(instruction, kInstructionInstrArgsType);
        std::string name;
        if (kind == kInstructionKernelCall) {
          const size_t call = file.Child(instruction, kInstructionInstrArgs);
          const size_t op = file.Table(operators, file.Number<uint32_t>(call, kKernelCallOpIndex));
          const std::string overload(file.Text(op, kOperatorOverload));
          name = std::string(file.Text(op, kOperatorName)) + (overload.empty() ? "" : "." + overload);
        } else if (kind == kInstructionDelegateCall) {
          const size_t call = file.Child(instruction, kInstructionInstrArgs);
          name = file.Text(file.Table(delegates, file.Number<uint32_t>(call, kDelegateCallDelegateIndex)),
                           kBackendDelegateId);
        }
        names.back().push_back(std::move(name));
      }
    }
  }
  return names;
}

std::string ProfileText(const std::vector<ProfiledRun>& runs, const std::vector<std::vector<std::string>>& names) {
  std::map<RunKind, std::vector<const ProfiledRun*>> by_kind;
  for (const ProfiledRun& run : runs) {
    by_kind[run.kind].push_back(&run);
  }
  const std::vector<const ProfiledRun*>& shown =
      by_kind[by_kind.count(RunKind::kTimed) ? RunKind::kTimed : RunKind::kFirst];
  if (shown.empty()) {
    return "profile 0 runs\n";
  }
  std::vector<double> totals;
  std::vector<double> rests;
  for (const ProfiledRun* run : shown) {
    totals.push_back(Microseconds(run->ticks));
    rests.push_back(totals.back());
    for (const InstructionEvent& event : run->instructions) {
      rests.back() -= Microseconds(event.ticks);
    }
  }
  const Times total(std::move(totals));
  const Times rest(std::move(rests));
  std::vector<Row> instructions = InstructionRows(shown, names);
  std::string text = "profile";
  const auto share = [&total](double us) { return total.median > 0 ? 100 * us / total.median : 0; };
  const auto append_row = [&](const Times& us, const std::string& number, const std::string& name) {
    Append(&text, "%11.1f %6.1f %11.1f %11.1f %6s  %s\n", us.median, share(us.median), us.p10, us.p90, number.c_str(),
           name.c_str());
  };
  const auto append_sum = [&](double us, const std::string& number, const std::string& name) {
    Append(&text, "%11.1f %6.1f %11s %11s %6s  %s\n", us, share(us), "", "", number.c_str(), name.c_str());
  };

  std::map<std::string, Row> by_name;
  for (const Row& row : instructions) {
    Row& of_name = by_name[row.name];
    of_name.name = row.name;
    of_name.us.median += row.us.median;
    ++of_name.number;
  }
  std::vector<Row> operators;
  for (auto& [name, row] : by_name) {
    operators.push_back(std::move(row));
  }
  SortBySlowest(&operators);
  SortBySlowest(&instructions);

  if (by_kind.count(RunKind::kTimed)) {
    text += " " + Count(shown.size(), "timed run") + ", besides " +
            Count(by_kind[RunKind::kFirst].size(), "first run") + " and " +
            Count(by_kind[RunKind::kWarmUp].size(), "warm-up run");
  } else {
    text += " " + Count(shown.size(), "run");
  }
  Append(&text, ": median %.1f us, p10 %.1f, p90 %.1f\n", total.median, total.p10, total.p90);
  Append(&text, "An operator has the sum of the medians of its nodes.\n%11s %6s %11s %11s %6s  operator\n", "us", "%",
         "", "", "nodes");
  for (const Row& row : operators) {
    append_sum(row.us.median, std::to_string(row.number), row.name);
  }
  append_row(rest, "", "the runtime itself");
  Append(&text, "%11s %6s %11s %11s %6s  operator\n", "median us", "%", "p10", "p90", "node");
  double others = 0;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Row& row = instructions[i];
    if (i >= kShownInstructions) {
      others += row.us.median;
      continue;
    }
    append_row(row.us, std::to_string(row.number), row.name);
    for (const Row& part : row.parts) {
      append_row(part.us, "", "  " + part.name);
    }
  }
  if (instructions.size() > kShownInstructions) {
    append_sum(others, "", std::to_string(instructions.size() - kShownInstructions) + " more nodes");
  }
  return text;
}

}  // namespace rules_executorch
