#include "runtime/runner/profile.h"

#include <executorch/runtime/platform/clock.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

#include "runtime/runner/failure.h"
#include "runtime/runner/flat_buffer.h"
#include "runtime/runner/program_format.h"

namespace rules_executorch {
namespace {

// The numbers of fields as etdump_schema_flatcc.fbs counts them, from the first of each table.
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

// An ETDump begins with its size.
constexpr size_t kSizePrefix = sizeof(uint32_t);
// The most instructions that are printed, the slowest first.
constexpr size_t kShownInstructions = 30;
constexpr char kFormatTime[] = "%11.1f %6.1f";

[[noreturn]] void RefuseProfile(const std::string&, const std::string& found) {
  Fail("the profile that ExecuTorch made cannot be read: " + found + ".",
       "the memory for it ran out, or the runtime is of another version than the headers.",
       "profile fewer runs, with a smaller --iterations.");
}

[[noreturn]] void RefuseProgram(const std::string& path, const std::string& found) {
  Fail("cannot read the program " + path + ": " + found + ".", "the file was changed while the program ran.",
       "profile the program again.");
}

// The text of a table, empty if it does not have it.
std::string TextOrNone(const FlatBuffer& file, size_t table, int field) {
  return file.Field(table, field) == 0 ? "" : std::string(file.Text(table, field));
}

// A number that stands for none by being left out.
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
      // Events end from the inside out: those of a delegate come before the call of the delegate.
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

// A row of a table.
struct Row {
  std::string name;
  double us = 0;
  size_t calls = 0;
  std::vector<Row> parts;
};

void SortBySlowest(std::vector<Row>* rows) {
  std::stable_sort(rows->begin(), rows->end(), [](const Row& a, const Row& b) { return a.us > b.us; });
}

[[gnu::format(printf, 2, 3)]] void Append(std::string* text, const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  *text += line;
}

// A row for each instruction that ran; its calls are the number of the instruction.
std::vector<Row> InstructionRows(const ProfiledRun& run, const std::vector<std::vector<std::string>>& names) {
  std::map<std::pair<int64_t, int64_t>, Row> rows;
  for (const InstructionEvent& event : run.instructions) {
    const auto chain = static_cast<size_t>(event.chain);
    const auto instruction = static_cast<size_t>(event.instruction);
    Row& row = rows[{event.chain, event.instruction}];
    // Numbers below 0 are larger than all sizes.
    row.name = chain < names.size() && instruction < names[chain].size() ? names[chain][instruction] : "?";
    row.calls = instruction;
    row.us += Microseconds(event.ticks);
    for (const DelegateEvent& part : event.delegate) {
      row.parts.push_back({part.name, Microseconds(part.ticks), 0, {}});
    }
  }
  std::vector<Row> sorted;
  for (auto& [at, row] : rows) {
    sorted.push_back(std::move(row));
  }
  return sorted;
}

}  // namespace

std::vector<ProfiledRun> ReadRuns(const uint8_t* etdump, size_t size) {
  const std::string path;
  if (size < kSizePrefix) {
    RefuseProfile(path, "it is empty");
  }
  const FlatBuffer file(etdump + kSizePrefix, size - kSizePrefix, path, RefuseProfile);
  const FlatBuffer::Vector blocks = file.Tables(file.Root(), kEtDumpRunData);
  std::vector<ProfiledRun> runs;
  for (size_t i = 0; i < blocks.size; ++i) {
    const size_t data = file.Table(blocks, i);
    if (TextOrNone(file, data, kRunDataName) == "Execute") {
      runs.push_back(ReadRun(file, data));
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

std::string ProfileText(std::vector<ProfiledRun> runs, const std::vector<std::vector<std::string>>& names) {
  if (runs.empty()) {
    return "profile 0 runs\n";
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const ProfiledRun& a, const ProfiledRun& b) { return a.ticks < b.ticks; });
  const ProfiledRun& run = runs[runs.size() / 2];
  std::vector<Row> instructions = InstructionRows(run, names);
  const double total = Microseconds(run.ticks);
  const auto share = [total](double us) { return total > 0 ? 100 * us / total : 0; };

  std::map<std::string, Row> by_name;
  double known = 0;
  for (const Row& row : instructions) {
    Row& of_name = by_name[row.name];
    of_name.name = row.name;
    of_name.us += row.us;
    ++of_name.calls;
    known += row.us;
  }
  std::vector<Row> operators;
  for (auto& [name, row] : by_name) {
    operators.push_back(std::move(row));
  }
  SortBySlowest(&operators);
  SortBySlowest(&instructions);

  std::string text;
  Append(&text, "profile %zu runs; of the run whose time is the median, %.1f us:\n%11s %6s %6s  operator\n",
         runs.size(), total, "us", "%", "calls");
  for (const Row& row : operators) {
    Append(&text, kFormatTime, row.us, share(row.us));
    Append(&text, " %6zu  %s\n", row.calls, row.name.c_str());
  }
  Append(&text, kFormatTime, std::max(total - known, 0.0), share(std::max(total - known, 0.0)));
  Append(&text, " %6s  the runtime itself\n%11s %6s %6s  operator\n", "", "us", "%", "node");
  double rest = 0;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Row& row = instructions[i];
    if (i >= kShownInstructions) {
      rest += row.us;
      continue;
    }
    Append(&text, kFormatTime, row.us, share(row.us));
    Append(&text, " %6zu  %s\n", row.calls, row.name.c_str());
    for (const Row& part : row.parts) {
      Append(&text, kFormatTime, part.us, share(part.us));
      Append(&text, " %6s    %s\n", "", part.name.c_str());
    }
  }
  if (instructions.size() > kShownInstructions) {
    Append(&text, kFormatTime, rest, share(rest));
    Append(&text, " %6s  %zu more nodes\n", "", instructions.size() - kShownInstructions);
  }
  return text;
}

}  // namespace rules_executorch
