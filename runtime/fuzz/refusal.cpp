#include "runtime/fuzz/refusal.h"

#include <executorch/runtime/platform/platform.h>

#include <vector>

#include "runtime/runner/failure.h"

// A large allocation must fail as on a machine without the memory, which is an error of the runner.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1:max_allocation_size_mb=512"; }

namespace rules_executorch {
namespace {

std::vector<std::string>& Messages() {
  static auto* messages = new std::vector<std::string>;
  return *messages;
}

void KeepMessage(et_timestamp_t, et_pal_log_level_t level, const char*, const char*, size_t, const char* message,
                 size_t length) {
  if (level == kError || level == kFatal) {
    Messages().emplace_back(message, length);
  }
}

void Abort() { Fail("ExecuTorch gave up and aborted the program.", "", ""); }

}  // namespace

void ForgetMessages() { Messages().clear(); }

void PrepareToFail() {
  executorch::runtime::register_pal(executorch::runtime::PalImpl::create(
      /*init=*/nullptr, Abort, /*current_ticks=*/nullptr, /*ticks_to_ns_multiplier=*/nullptr, KeepMessage,
      /*allocate=*/nullptr, /*free=*/nullptr, __FILE__));
}

const std::vector<std::string>& LogMessages() { return Messages(); }

void Fail(const std::string& found, const std::string&, const std::string&) { throw Refusal{found}; }

}  // namespace rules_executorch
