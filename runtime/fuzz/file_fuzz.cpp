// Runs a runner with randomly mutated programs, samples and weights. For any file, the runner must run it or print one
// error: no signal, no abort, no sanitizer report, and limited time and memory.
//
// Arguments: flags as described by --help, then programs, each with its samples and, for --weights, its weights next to
// it (model.pte, model.ptd, model.weights.ptd).

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/fuzz/files.h"
#include "runtime/fuzz/mutation.h"
#include "runtime/fuzz/runner_process.h"

namespace rules_executorch {
namespace {

// The files of a case: the program, the samples and the weights.
constexpr const char* kExtensions[] = {".pte", ".ptd", ".weights.ptd"};
using Case = std::array<std::string, std::size(kExtensions)>;

struct Settings {
  size_t changed = 0;  // the number of the file that is changed
  uint64_t seed = 1;
  uint64_t first = 0;
  uint64_t count = 5000;
  std::string keep;
  std::vector<Case> cases;
};

// Checks a program with its samples. Returns the error of the run, or an empty text.
std::string Run(const Case& files, const std::string& log) {
  const RunnerResult result =
      RunInProcess({"--program=" + files[0], "--samples=" + files[1], "--weights=" + files[2], "--check"}, log);
  if (!result.crash.empty()) {
    return result.crash;
  }
  const std::string& text = result.text;
  // A sanitizer may print a warning before the error.
  const bool has_error = text.rfind("error: ", 0) == 0 || text.find("\nerror: ") != std::string::npos;
  if (result.status > 1 || (result.status == 0 && !text.empty()) ||
      (result.status == 1 && !text.empty() && !has_error)) {
    return "status " + std::to_string(result.status) + ": " + text;
  }
  return "";
}

Settings Parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string flag = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (flag == "--samples" || flag == "--weights") {
      settings.changed = flag == "--samples" ? 1 : 2;
    } else if (flag == "--seed") {
      settings.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (flag == "--first") {
      settings.first = std::strtoull(value.c_str(), nullptr, 10);
    } else if (flag == "--count") {
      settings.count = std::strtoull(value.c_str(), nullptr, 10);
    } else if (flag == "--keep") {
      settings.keep = value;
    } else if (argument.size() > 4 && argument.substr(argument.size() - 4) == ".pte") {
      Case files;
      for (size_t i = 0; i < files.size(); ++i) {
        files[i] = argument.substr(0, argument.size() - 4) + kExtensions[i];
      }
      settings.cases.push_back(files);
    } else {
      std::fprintf(stderr,
                   "Usage: %s [--samples|--weights] [--seed=N] [--first=N] [--count=N] [--keep=FOLDER] PROGRAM.pte...\n"
                   "Changes the programs, or with --samples their samples, with --weights their weights, count times.\n"
                   "--keep keeps what fails.\n",
                   argv[0]);
      std::exit(2);
    }
  }
  return settings;
}

int Main(int argc, char** argv) {
  const Settings settings = Parse(argc, argv);
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string place = (folder != nullptr ? folder : "/tmp") + std::string("/fuzz.") + std::to_string(getpid());
  const std::string extension = kExtensions[settings.changed];
  const std::string changed = place + extension;
  std::vector<Bytes> files;
  for (const Case& each : settings.cases) {
    files.push_back(ReadFile(each[settings.changed]));
    // The unchanged files must run. Otherwise, a runner that refuses everything would pass.
    const std::string problem = Run(each, place + ".log");
    if (!problem.empty() || !ReadFile(place + ".log").empty()) {
      std::fprintf(stderr, "%s does not run as it is: %s\n", each[0].c_str(), problem.c_str());
      return 1;
    }
  }
  uint64_t failures = 0;
  for (uint64_t i = settings.first; i < settings.first + settings.count; ++i) {
    const size_t at = i % files.size();
    std::string changes;
    WriteFile(changed, Mutate(files[at], files[(at + 1) % files.size()], settings.seed * 1000003 + i, &changes));
    Case each = settings.cases[at];
    each[settings.changed] = changed;
    const std::string problem = Run(each, place + ".log");
    if (!problem.empty()) {
      ++failures;
      std::printf("%llu of %s (%s): %s\n", static_cast<unsigned long long>(i), settings.cases[at][0].c_str(),
                  changes.c_str(), problem.c_str());
      if (!settings.keep.empty()) {
        WriteFile(settings.keep + "/" + std::to_string(i) + extension, ReadFile(changed));
      }
    }
  }
  std::remove(changed.c_str());
  std::remove((place + ".log").c_str());
  std::printf("%llu of %llu changed files made the runner fail\n", static_cast<unsigned long long>(failures),
              static_cast<unsigned long long>(settings.count));
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace rules_executorch

int main(int argc, char** argv) { return rules_executorch::Main(argc, argv); }
