#include "kernels/testing/error_log.h"

#include <executorch/runtime/platform/platform.h>

#include <cstddef>
#include <cstdio>

namespace op_caller {
namespace {

void log_message(et_timestamp_t, et_pal_log_level_t level, const char*, const char*, size_t, const char* message,
                 size_t length) {
  if (level == kFatal) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(length), message);  // the process ends after this message
  } else if (level == kError) {
    error_log().append(message, length).append("\n");
  }
}

}  // namespace

void collect_errors() {
  using executorch::runtime::PalImpl;
  static const bool registered = executorch::runtime::register_pal(PalImpl::create(log_message, __FILE__));
  static_cast<void>(registered);
}

std::string& error_log() {
  thread_local std::string log;
  return log;
}

}  // namespace op_caller
