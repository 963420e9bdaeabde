// What the runtime logs as errors, kept for who calls a kernel.

#pragma once

#include <string>

namespace op_caller {

/// Lets the runtime's log end here: errors are kept, fatal messages go to stderr. Every call but the first does
/// nothing.
void collect_errors();

/// The errors that this thread logged since the last clear, one a line.
std::string& error_log();

}  // namespace op_caller
