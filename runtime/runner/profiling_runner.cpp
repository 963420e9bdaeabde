#include <executorch/devtools/etdump/etdump_flatcc.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/runner/failure.h"
#include "runtime/runner/file.h"
#include "runtime/runner/profile.h"
#include "runtime/runner/program_runner.h"
#include "runtime/runner/runner.h"

namespace rules_executorch {
namespace {

using executorch::etdump::ETDumpGen;
using executorch::etdump::ETDumpResult;

constexpr char kFlag[] = "--profile";
constexpr char kHelp[] = R"(
Profile
  --profile           Prints the time of every operator and of the slowest nodes: medians over the timed runs.
  --profile=FILE      Writes an ETDump of the runs to a file, which ExecuTorch's Inspector reads, too.
)";

void Write(const ETDumpResult& etdump, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool written = file != nullptr && std::fwrite(etdump.buf, 1, etdump.size, file) == etdump.size;
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed) {
    Fail("cannot write the profile " + path + ".", "the folder does not exist, or nothing may be written there.",
         "give another file with --profile=FILE.");
  }
}

// Creates an ETDump and writes it to a file. Without a file, prints its content.
class EtDumpProfiler : public Profiler {
 public:
  explicit EtDumpProfiler(std::string file) : file_(std::move(file)) {}

  std::unique_ptr<executorch::runtime::EventTracer> MakeTracer() override {
    auto tracer = std::make_unique<ETDumpGen>();
    tracer_ = tracer.get();
    return tracer;
  }

  void Begin(const std::vector<std::string>& methods) override {
    if (methods.size() > 1) {
      Fail("--profile is of one method, and --check runs several: " + Join(methods) + ".",
           "the program has several methods, and none is named.", "name one with --method=NAME.");
    }
    method_ = methods.front();
  }

  void Prepare(RunKind kind) override {
    if (kind != kind_) {
      tracer_->create_event_block(Mark(kind));
      kind_ = kind;
    }
  }

  void Report(const Options& options) override {
    const ETDumpResult etdump = tracer_->get_etdump_data();
    // This function owns the memory from here on.
    const std::unique_ptr<void, decltype(&std::free)> memory(etdump.buf, &std::free);
    if (etdump.buf == nullptr) {
      Fail("there is no profile.", "the memory for it ran out.", "profile fewer runs, with a smaller --iterations.");
    }
    if (!file_.empty()) {
      Write(etdump, file_);
      return;
    }
    File program(options.program);
    std::vector<uint8_t> content(program.size());
    program.Read(content.data());
    std::fputs(ProfileText(ReadRuns(static_cast<const uint8_t*>(etdump.buf), etdump.size),
                           InstructionNames(content.data(), content.size(), options.program, method_))
                   .c_str(),
               stdout);
  }

 private:
  std::string file_;
  std::string method_;
  ETDumpGen* tracer_ = nullptr;
  std::optional<RunKind> kind_;
};

}  // namespace

int ProfilingRunnerMain(int argc, char** argv, const RunnerDefaults& defaults) {
  PrepareToFail();
  std::unique_ptr<EtDumpProfiler> profiler;
  std::vector<char*> others;
  for (int i = 0; i < argc; ++i) {
    const std::string text = argv[i];
    const bool is_flag = text == kFlag || text.rfind(std::string(kFlag) + "=", 0) == 0;
    if (i == 0 || !is_flag) {
      others.push_back(argv[i]);
      continue;
    }
    const std::string file = text == kFlag ? "" : text.substr(sizeof(kFlag));
    if (profiler != nullptr || (text != kFlag && file.empty())) {
      Fail(profiler != nullptr ? "flag --profile is given twice." : "flag --profile= needs a file.",
           "the flag or its value is misspelt.", "see --help.");
    }
    profiler = std::make_unique<EtDumpProfiler>(file);
  }
  others.push_back(nullptr);
  return Finish(RunProgram(static_cast<int>(others.size()) - 1, others.data(), defaults, kHelp, profiler.get()));
}

}  // namespace rules_executorch
