#pragma once

#include <chrono>

namespace rules_executorch {

// A progress bar on stderr. It appears if stderr is a terminal and the estimated time of all steps is more than five
// seconds.
class ProgressBar {
 public:
  explicit ProgressBar(int steps);

  // Erases the bar.
  ~ProgressBar();

  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Counts a completed step.
  void Step();

 private:
  using Clock = std::chrono::steady_clock;

  const int steps_;
  const bool on_terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_;  // time of the next update
  int done_ = 0;
};

// Erases the bar if there is one, so that a message starts on an empty line.
void EraseProgress();

}  // namespace rules_executorch
