#include "runtime/fuzz/runner_process.h"

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

#include "runtime/runner/runner.h"

// Failed allocations must be errors of the runner and not of the sanitizer.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace rules_executorch {
namespace {

// The limits of a run: seconds, and bytes of address space. Sanitizers need additional address space.
constexpr unsigned kSeconds = 10;
constexpr rlim_t kAddresses = rlim_t{2} << 30;

bool HasSanitizer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

[[noreturn]] void RunHere(std::vector<std::string> arguments, const std::string& log) {
  dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
  dup2(open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
  if (!HasSanitizer()) {
    const rlimit addresses = {kAddresses, kAddresses};
    setrlimit(RLIMIT_AS, &addresses);
  }
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  alarm(kSeconds);
  arguments.insert(arguments.begin(), "runner");
  std::vector<char*> argv;
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  std::_Exit(RunnerMain(static_cast<int>(arguments.size()), argv.data(), RunnerDefaults{}));
}

}  // namespace

RunnerResult RunInProcess(const std::vector<std::string>& arguments, const std::string& log) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    RunHere(arguments, log);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  RunnerResult result;
  std::ifstream file(log, std::ios::binary);
  result.text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  if (WIFSIGNALED(status)) {
    result.crash = WTERMSIG(status) == SIGALRM ? "took longer than " + std::to_string(kSeconds) + " s"
                                               : std::string("signal: ") + strsignal(WTERMSIG(status));
  } else {
    result.status = WEXITSTATUS(status);
  }
  return result;
}

}  // namespace rules_executorch
