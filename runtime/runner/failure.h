#pragma once

#include <string>
#include <vector>

namespace rules_executorch {

// Keeps ExecuTorch's error messages back until something fails, so that a good run prints results only. Call it first.
void CaptureLog();

// The errors that ExecuTorch has logged so far.
const std::vector<std::string>& LogMessages();

// Prints one error, then what ExecuTorch logged, to stderr, and exits with status 1.
[[noreturn]] void Fail(const std::string& found, const std::string& cause, const std::string& fix);

}  // namespace rules_executorch
