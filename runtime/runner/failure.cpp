#include "runtime/runner/failure.h"

#include <executorch/runtime/platform/platform.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace rules_executorch {
namespace {

constexpr size_t kShownMessages = 20;

std::vector<std::string>& Messages() {
  static auto* messages = new std::vector<std::string>;  // Never destroyed: other threads may log until the very end.
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

}  // namespace

void CaptureLog() {
  executorch::runtime::register_pal(executorch::runtime::PalImpl::create(
      /*init=*/nullptr, Abort, /*current_ticks=*/nullptr, /*ticks_to_ns_multiplier=*/nullptr, KeepMessage,
      /*allocate=*/nullptr, /*free=*/nullptr, __FILE__));
}

const std::vector<std::string>& LogMessages() { return Messages(); }

void Fail(const std::string& found, const std::string& cause, const std::string& fix) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n  Likely cause: %s\n  Fix: %s\n", found.c_str(), cause.c_str(), fix.c_str());
  const std::vector<std::string>& messages = Messages();
  if (!messages.empty()) {
    const size_t first = messages.size() > kShownMessages ? messages.size() - kShownMessages : 0;
    std::fprintf(stderr, "\nExecuTorch's log:\n");
    for (size_t i = first; i < messages.size(); ++i) {
      std::fprintf(stderr, "  %s\n", messages[i].c_str());
    }
  }
  std::fflush(stderr);
  // Not exit(): static destructors of libraries must not run under an error, least of all from ExecuTorch's abort.
  std::_Exit(1);
}

}  // namespace rules_executorch
