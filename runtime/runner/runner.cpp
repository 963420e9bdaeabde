#include "runtime/runner/runner.h"

#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernel_api/threads.h"
#include "runtime/runner/failure.h"
#include "runtime/runner/memory.h"
#include "runtime/runner/options.h"
#include "runtime/runner/program.h"
#include "runtime/runner/program_runner.h"
#include "runtime/runner/run.h"

namespace rules_executorch {
namespace {

// The runtime's own operators: those of executorch_prim, and these.
constexpr std::string_view kAtenPrimOps[] = {"aten::_local_scalar_dense", "aten::sym_numel", "aten::sym_size.int"};

void ListOperators() {
  executorch::runtime::runtime_init();
  std::set<std::string_view> names;
  for (const executorch::runtime::Kernel& kernel : executorch::runtime::get_registered_kernels()) {
    names.insert(kernel.name_);
  }
  for (std::string_view name : names) {
    if (name.rfind("executorch_prim::", 0) != 0 &&
        std::find(std::begin(kAtenPrimOps), std::end(kAtenPrimOps), name) == std::end(kAtenPrimOps)) {
      std::printf("%s\n", std::string(name).c_str());
    }
  }
}

// Tests use one thread, because Bazel runs as many tests in parallel as there are processors.
bool HasOneThread(const RunnerDefaults& defaults) { return !has_thread_pool() || defaults.check; }

// Call this function before the program is loaded, because XNNPACK keeps the threads that it finds then.
void UseThreads(uint32_t threads) {
  if (!use_threads(threads)) {
    Fail("--threads=" + std::to_string(threads) + ": these threads are not to be had.",
         has_thread_pool() ? "the system starts no more threads." : "this binary was built without ExecuTorch's pool.",
         "leave out --threads, or name the pool with `threadpool` of the executorch_runtime_toolchain.");
  }
}

}  // namespace

int RunProgram(int argc, char** argv, const RunnerDefaults& defaults, const char* more_help, Profiler* profiler) {
  const std::string load =
      "  --weights=FILE      A .ptd file with constants that the program does not have. Given once for each file.\n"
      "                      Default: " +
      (defaults.weights.empty() ? "none." : Join(defaults.weights)) +
      "\n"
      "  --load=HOW          read: reads the files into memory. mmap: maps the files, so that the\n"
      "                      first inference starts earlier and processes share the memory.\n"
      "                      Default: read.\n";
  const RunnerText text = {
      "an ExecuTorch program",
      ".pte",
      "Prints the operators that are linked into this binary (without the runtime's own).",
      HasOneThread(defaults) ? "1" : "one for each processor",
      load.c_str(),
      "  --memory            Prints the bytes of the program, of planned memory, of the runtime and of kernels, and\n"
      "                      those of the process.\n",
      more_help};
  const Options options = ParseOptions(argc, argv, defaults, text);
  if (options.action == Options::Action::kHelp) {
    std::fputs(HelpText(argv[0], defaults, text).c_str(), stdout);
    return 0;
  }
  if (options.action == Options::Action::kListOperators) {
    ListOperators();
    return 0;
  }
  const bool has_one_thread = HasOneThread(defaults) || options.action != Options::Action::kRun;
  UseThreads(options.threads > 0 ? static_cast<uint32_t>(options.threads) : has_one_thread ? 1 : kAllProcessors);
  const auto memory_before = options.memory ? ReadProcessMemory() : std::nullopt;
  const auto start = std::chrono::steady_clock::now();
  Program program(options.program, options.weights, options.maps_program ? Load::kMap : Load::kRead,
                  profiler == nullptr ? nullptr : profiler->MakeTracer());
  const double load_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (options.action == Options::Action::kListMethods) {
    ListMethods(&program);
    return 0;
  }
  const std::vector<std::string> methods = MethodsToRun(&program, options);
  if (profiler != nullptr) {
    profiler->Begin(methods);
  }
  const int status = RunModel(&program, methods, options, load_ms, profiler);
  if (status != 0 && !defaults.numbers.empty()) {
    std::fflush(stdout);
    std::fprintf(stderr, "To see where the numbers go wrong: bazel run %s\n", defaults.numbers.c_str());
  }
  if (options.memory) {
    PrintMemory(program.Memory(), memory_before);
  }
  if (profiler != nullptr) {
    profiler->Report(options);
  }
  return status;
}

int RunnerMain(int argc, char** argv, const RunnerDefaults& defaults) {
  PrepareToFail();
  return Finish(RunProgram(argc, argv, defaults, "", nullptr));
}

}  // namespace rules_executorch
