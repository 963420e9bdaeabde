#pragma once

#include <string>
#include <vector>

namespace rules_executorch {

// Prepares for errors. Call it first. ExecuTorch's error messages are collected and only printed if something fails.
// Failed allocations are errors like any other. Opened files do not get the number of a closed standard stream.
void PrepareToFail();

// The errors that ExecuTorch has logged so far.
const std::vector<std::string>& LogMessages();

// Prints one error, then ExecuTorch's messages, to stderr, and exits with status 1.
[[noreturn]] void Fail(const std::string& found, const std::string& cause, const std::string& fix);

// Truncates a text for an error.
std::string Shorten(const std::string& text);

// Formats a list for an error.
std::string Join(const std::vector<std::string>& items);

// Call it last. Fails if the output could not be written. Returns the status.
int Finish(int status);

}  // namespace rules_executorch
