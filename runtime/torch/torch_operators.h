#pragma once

#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace rules_executorch {

// An operator of a custom_ops.yaml, as a library for PyTorch has it.
struct TorchOperator {
  // "my_ops", and "mul4.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)".
  const char* ns;
  const char* schema;
  // What it is without its out arguments, "mul4(Tensor input) -> Tensor"; null if that is no operator of its own.
  const char* functional;
  // Where it is declared, for messages: "custom_ops.yaml:6".
  const char* location;
};

// Defines the operators in PyTorch, to run with the kernels that a program runs with. Generated code calls it when the
// library is loaded. An operator that another library has defined before with the same schema is left to that. One that
// another library defines afterwards is refused by PyTorch; in the message, `label` tells of which library this one is.
//
// A kernel is the only one that knows what it puts out, so it is asked. An operator without out arguments gets its
// results by calls with tensors that take any size which the kernel resizes them to, of each dtype in turn until it
// accepts one; the same kernel on made-up values is the operator's fake.
bool DefineTorchOperators(const char* label, executorch::runtime::Span<const TorchOperator> operators,
                          executorch::runtime::Span<const executorch::runtime::Kernel> kernels);

}  // namespace rules_executorch
