#include "runtime/runner/failure.h"

#include <executorch/runtime/platform/platform.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "runtime/runner/progress.h"

namespace rules_executorch {
namespace {

constexpr size_t kShownMessages = 20;
constexpr size_t kLongestLine = 4000;

std::vector<std::string>& Messages() {
  static auto* messages = new std::vector<std::string>;  // never destroyed, because threads may log until the end
  return *messages;
}

void KeepMessage(et_timestamp_t, et_pal_log_level_t level, const char* file, const char*, size_t line,
                 const char* message, size_t length) {
  if (level != kError && level != kFatal) {
    return;
  }
  Messages().push_back(std::string(file) + ":" + std::to_string(line) + "] " + std::string(message, length));
}

void Abort() {
  Fail("ExecuTorch gave up and aborted the program.",
       "a kernel or the runtime found a state that it cannot go on from; its log says which.",
       "see the log below; inputs of another shape, dtype or range than the program expects are the usual reason.");
}

void FailForMemory() {
  std::set_new_handler(nullptr);
  Fail("there is no memory left.", "the model or its inputs are too large for this machine, or a file is damaged.",
       "run it where there is more memory, or give smaller inputs.");
}

// Prints a line. Control characters of a file's texts are replaced, because they could affect the terminal.
void PrintLine(const char* before, const std::string& text) {
  std::string line = text.size() <= kLongestLine ? text : text.substr(0, kLongestLine) + "...";
  for (char& character : line) {
    if ((static_cast<unsigned char>(character) < ' ' && character != '\n') || character == '\x7f') {
      character = '?';
    }
  }
  std::fprintf(stderr, "%s%s\n", before, line.c_str());
}

}  // namespace

void PrepareToFail() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1) {
      open("/dev/null", O_RDONLY);  // gets the lowest free number; writing to it fails
    }
  }
  std::set_new_handler(FailForMemory);
  executorch::runtime::register_pal(executorch::runtime::PalImpl::create(
      /*init=*/nullptr, Abort, /*current_ticks=*/nullptr, /*ticks_to_ns_multiplier=*/nullptr, KeepMessage,
      /*allocate=*/nullptr, /*free=*/nullptr, __FILE__));
}

const std::vector<std::string>& LogMessages() { return Messages(); }

void Fail(const std::string& found, const std::string& cause, const std::string& fix) {
  EraseProgress();
  std::fflush(stdout);
  PrintLine("error: ", found);
  PrintLine("  Likely cause: ", cause);
  PrintLine("  Fix: ", fix);
  const std::vector<std::string>& messages = Messages();
  if (!messages.empty()) {
    const size_t first = messages.size() > kShownMessages ? messages.size() - kShownMessages : 0;
    PrintLine("\nExecuTorch's log:", "");
    for (size_t i = first; i < messages.size(); ++i) {
      PrintLine("  ", messages[i]);
    }
  }
  std::fflush(stderr);
  // _Exit(), because static destructors of libraries must not run after an error, in particular after ExecuTorch's
  // abort.
  std::_Exit(1);
}

int Finish(int status) {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    Fail(std::string("cannot write to stdout: ") + std::strerror(errno) + ".",
         "stdout is closed, or where it leads is full or not to be written to.", "give it another place.");
  }
  return status;
}

}  // namespace rules_executorch
