// The errors of the runner's code, in a library of Python: exceptions up to Call(), and texts for Python from there.

#include "runtime/python/call.h"

#include <executorch/runtime/platform/platform.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "runtime/runner/failure.h"

namespace rules_executorch {
namespace {

// The text of an error.
struct Failure {
  std::string text;
};

constexpr size_t kMostMessages = 20;

// Of this thread: whether it is in Call(), what ExecuTorch has logged there, and the reason of the last failure.
thread_local bool is_calling = false;
thread_local std::vector<std::string> messages;
thread_local std::string failure;

void KeepMessage(et_timestamp_t, et_pal_log_level_t level, const char* file, const char*, size_t line,
                 const char* message, size_t length) {
  if ((level == kError || level == kFatal) && messages.size() < kMostMessages) {
    messages.push_back(std::string(file) + ":" + std::to_string(line) + "] " + std::string(message, length));
  }
}

void Abort() {
  if (is_calling) {
    Fail("ExecuTorch gave up.", "a kernel or the runtime found a state that it cannot go on from; its log says which.",
         "see the log below; inputs of another shape, dtype or range than the program expects are the usual reason.");
  }
  // No exception leaves a thread of the pool.
  for (const std::string& message : messages) {
    std::fprintf(stderr, "%s\n", message.c_str());
  }
  std::abort();
}

}  // namespace

void PrepareToFail() {
  static const bool is_prepared = executorch::runtime::register_pal(executorch::runtime::PalImpl::create(
      /*init=*/nullptr, Abort, /*current_ticks=*/nullptr, /*ticks_to_ns_multiplier=*/nullptr, KeepMessage,
      /*allocate=*/nullptr, /*free=*/nullptr, __FILE__));
  (void)is_prepared;
}

const std::vector<std::string>& LogMessages() { return messages; }

void Fail(const std::string& found, const std::string& cause, const std::string& fix) {
  std::string text = found + "\n\nLikely cause: " + cause + "\nFix: " + fix;
  if (!messages.empty()) {
    text += "\n\nExecuTorch's log:";
    for (const std::string& message : messages) {
      text += "\n  " + message;
    }
  }
  throw Failure{std::move(text)};
}

bool Call(executorch::runtime::FunctionRef<void()> function) {
  PrepareToFail();
  messages.clear();
  is_calling = true;
  bool succeeded = false;
  try {
    function();
    succeeded = true;
  } catch (const Failure& error) {
    failure = error.text;
  } catch (const std::bad_alloc&) {
    failure = "there is no memory left.";
  } catch (const std::exception& error) {
    failure = error.what();
  }
  is_calling = false;
  return succeeded;
}

const char* FailureText() { return failure.c_str(); }

}  // namespace rules_executorch
