#include "runtime/runner/progress.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace rules_executorch {
namespace {

constexpr double kLongSeconds = 5;
// The time before the first estimate: the first steps are not enough to estimate the total.
constexpr std::chrono::milliseconds kWait(500);
constexpr std::chrono::milliseconds kBetween(100);
constexpr int kWidth = 30;

bool is_shown = false;

// Whether stderr is a terminal that can erase a line.
bool OnTerminal() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace

ProgressBar::ProgressBar(int steps) : steps_(steps), on_terminal_(OnTerminal()) { next_ += kWait; }

ProgressBar::~ProgressBar() { EraseProgress(); }

void ProgressBar::Step() {
  ++done_;
  if (!on_terminal_) {
    return;
  }
  const Clock::time_point now = Clock::now();
  if (now < next_) {
    return;
  }
  next_ = now + kBetween;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double left = seconds / done_ * (steps_ - done_);
  if (!is_shown && seconds + left <= kLongSeconds) {
    return;
  }
  is_shown = true;
  const auto filled = static_cast<size_t>(static_cast<double>(done_) / steps_ * kWidth);
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  std::fprintf(stderr, "\r[%s] %d of %d runs, %.0f s left\x1b[K", bar.c_str(), done_, steps_, left);
  std::fflush(stderr);
}

void EraseProgress() {
  if (is_shown) {
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
    is_shown = false;
  }
}

}  // namespace rules_executorch
