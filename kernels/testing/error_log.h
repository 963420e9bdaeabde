// Collects the errors that the runtime logs, for callers of kernels.

#pragma once

#include <string>

namespace op_caller {

/// Redirects the runtime's log: errors are collected, and fatal messages go to stderr. Further calls do nothing.
void collect_errors();

/// The errors that this thread has logged since the last clear, one in each line.
std::string& error_log();

}  // namespace op_caller
