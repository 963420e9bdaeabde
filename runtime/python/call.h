#pragma once

#include <executorch/runtime/core/function_ref.h>

namespace rules_executorch {

// Calls a function. Returns false if the function fails: by Fail(), by an abort of ExecuTorch on this thread, or for
// lack of memory. FailureText() then has the reason.
bool Call(executorch::runtime::FunctionRef<void()> function);

// The reason of the last failure on this thread.
const char* FailureText();

}  // namespace rules_executorch
