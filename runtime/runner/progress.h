#pragma once

#include <chrono>

namespace rules_executorch {

// A bar on stderr that shows how many of some steps are done. It appears if stderr is a terminal and the first steps
// tell that all of them will take more than five seconds.
class ProgressBar {
 public:
  explicit ProgressBar(int steps);

  // Erases the bar.
  ~ProgressBar();

  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Counts one more step as done.
  void Step();

 private:
  using Clock = std::chrono::steady_clock;

  const int steps_;
  const bool on_terminal_;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_;  // When the bar may change.
  int done_ = 0;
};

// Erases the bar that there is, if any, so that a message has the line for itself.
void EraseProgress();

}  // namespace rules_executorch
