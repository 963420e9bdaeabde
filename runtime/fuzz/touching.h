#pragma once

#include <executorch/runtime/core/event_tracer.h>

#include <memory>
#include <string>

namespace rules_executorch {

// Registers kernels that read the memory of all tensors among their arguments, so that a sanitizer finds tensors
// outside of the memory that the program has for them.
//
// Args:
//   name: the operator's name. Does nothing if the runtime already has the operator, or has no room for it.
void RegisterTouchingKernel(const std::string& name);

// A tracer that throws a Refusal after some number of instructions, because a damaged program may jump back for ever.
std::unique_ptr<executorch::runtime::EventTracer> LimitInstructions();

}  // namespace rules_executorch
