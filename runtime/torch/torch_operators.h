#pragma once

#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace rules_executorch {

// An operator of a custom_ops.yaml in a library for PyTorch.
struct TorchOperator {
  // "my_ops", and "mul4.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)".
  const char* ns;
  const char* schema;
  // The schema without the out arguments, "mul4(Tensor input) -> Tensor". Null if this is not a separate operator.
  const char* functional;
  // The location of the declaration, for messages: "custom_ops.yaml:6".
  const char* location;
};

// Defines the operators in PyTorch with the kernels of programs. Generated code calls this function when the library is
// loaded. If another library has already defined an operator with the same schema, the operator is not defined again.
// If another library defines an operator later, PyTorch refuses it, and the message has the `label` of this library.
//
// Only the kernel knows the shapes and dtypes of its results. For an operator without out arguments, trial calls find
// the results: with tensors that accept any size to which the kernel resizes them, and with each dtype until the kernel
// accepts one. The fake of the operator is the same kernel with made-up values.
bool DefineTorchOperators(const char* label, executorch::runtime::Span<const TorchOperator> operators,
                          executorch::runtime::Span<const executorch::runtime::Kernel> kernels);

}  // namespace rules_executorch
