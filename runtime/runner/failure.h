#pragma once

#include <string>
#include <vector>

namespace rules_executorch {

// Prepares for what can go wrong; call it first. ExecuTorch's error messages are kept back until something fails, so
// that a good run prints results only; memory that cannot be had is an error like any other; and no file that is opened
// gets the number of a stream that is closed.
void PrepareToFail();

// The errors that ExecuTorch has logged so far.
const std::vector<std::string>& LogMessages();

// Prints one error, then what ExecuTorch logged, to stderr, and exits with status 1.
[[noreturn]] void Fail(const std::string& found, const std::string& cause, const std::string& fix);

// A text for an error, cut off where it is too long to be read.
std::string Shorten(const std::string& text);

// A list for an error.
std::string Join(const std::vector<std::string>& items);

// Call it last: fails if what was printed could not be written. Returns the status.
int Finish(int status);

}  // namespace rules_executorch
