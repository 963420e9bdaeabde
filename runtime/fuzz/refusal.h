#pragma once

#include <string>

namespace rules_executorch {

// What Fail() throws in a fuzz target, which is linked with refusal.cpp instead of the runner's failure.cpp. The runner
// ends its process, but a fuzz target reads many files in one process.
struct Refusal {
  std::string found;
};

// Forgets ExecuTorch's log of the previous file.
void ForgetMessages();

}  // namespace rules_executorch
