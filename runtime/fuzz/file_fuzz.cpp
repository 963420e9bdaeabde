// Runs a runner with randomly mutated programs and samples. For any file, the runner must run it or print one error: no
// signal, no abort, no sanitizer report, and limited time and memory.
//
// Arguments: flags as described by --help, then programs, each with its samples next to it (model.pte, model.ptd).

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/fuzz/mutation.h"
#include "runtime/runner/runner.h"

// Failed allocations must be errors of the runner and not of the sanitizer.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace rules_executorch {
namespace {

// The limits of a run: seconds, and bytes of address space. Sanitizers need additional address space.
constexpr unsigned kSeconds = 10;
constexpr rlim_t kAddresses = rlim_t{2} << 30;

struct Case {
  std::string program;
  std::string samples;
};

struct Settings {
  bool samples = false;
  uint64_t seed = 1;
  uint64_t first = 0;
  uint64_t count = 5000;
  std::string keep;
  std::vector<Case> cases;
};

Bytes ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void WriteAll(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

bool HasSanitizer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

// Runs the runner in its own process. Returns the error of the run, or an empty text.
std::string Run(const std::string& program, const std::string& samples, const std::string& log) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    dup2(open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    if (!HasSanitizer()) {
      const rlimit addresses = {kAddresses, kAddresses};
      setrlimit(RLIMIT_AS, &addresses);
    }
    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(kSeconds);
    std::string arguments[] = {"runner", "--program=" + program, "--samples=" + samples, "--check"};
    char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), arguments[3].data(), nullptr};
    const int status = RunnerMain(4, argv, RunnerDefaults{});
    std::_Exit(status);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGALRM ? "took longer than " + std::to_string(kSeconds) + " s"
                                       : std::string("signal: ") + strsignal(WTERMSIG(status));
  }
  const Bytes written = ReadAll(log);
  const std::string text(written.begin(), written.end());
  // A sanitizer may print a warning before the error.
  const bool has_error = text.rfind("error: ", 0) == 0 || text.find("\nerror: ") != std::string::npos;
  const int code = WEXITSTATUS(status);
  if (code > 1 || (code == 0 && !text.empty()) || (code == 1 && !text.empty() && !has_error)) {
    return "status " + std::to_string(code) + ": " + text;
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
    if (flag == "--samples") {
      settings.samples = true;
    } else if (flag == "--seed") {
      settings.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (flag == "--first") {
      settings.first = std::strtoull(value.c_str(), nullptr, 10);
    } else if (flag == "--count") {
      settings.count = std::strtoull(value.c_str(), nullptr, 10);
    } else if (flag == "--keep") {
      settings.keep = value;
    } else if (argument.size() > 4 && argument.substr(argument.size() - 4) == ".pte") {
      settings.cases.push_back({argument, argument.substr(0, argument.size() - 4) + ".ptd"});
    } else {
      std::fprintf(stderr,
                   "Usage: %s [--samples] [--seed=N] [--first=N] [--count=N] [--keep=FOLDER] PROGRAM.pte...\n"
                   "Changes the programs, or with --samples their samples, count times. --keep keeps what fails.\n",
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
  const std::string extension = settings.samples ? ".ptd" : ".pte";
  const std::string changed = place + extension;
  std::vector<Bytes> files;
  for (const Case& each : settings.cases) {
    files.push_back(ReadAll(settings.samples ? each.samples : each.program));
    // The unchanged files must run. Otherwise, a runner that refuses everything would pass.
    const std::string problem = Run(each.program, each.samples, place + ".log");
    if (!problem.empty() || !ReadAll(place + ".log").empty()) {
      std::fprintf(stderr, "%s does not run as it is: %s\n", each.program.c_str(), problem.c_str());
      return 1;
    }
  }
  uint64_t failures = 0;
  for (uint64_t i = settings.first; i < settings.first + settings.count; ++i) {
    const size_t at = i % files.size();
    std::string changes;
    WriteAll(changed, Mutate(files[at], files[(at + 1) % files.size()], settings.seed * 1000003 + i, &changes));
    const Case& each = settings.cases[at];
    const std::string problem =
        settings.samples ? Run(each.program, changed, place + ".log") : Run(changed, each.samples, place + ".log");
    if (!problem.empty()) {
      ++failures;
      std::printf("%llu of %s (%s): %s\n", static_cast<unsigned long long>(i), each.program.c_str(), changes.c_str(),
                  problem.c_str());
      if (!settings.keep.empty()) {
        WriteAll(settings.keep + "/" + std::to_string(i) + extension, ReadAll(changed));
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
