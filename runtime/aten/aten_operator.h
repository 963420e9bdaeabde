#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include <memory>

namespace rules_executorch::ET_RUNTIME_NAMESPACE {

// An operator of PyTorch's dispatcher, to be called with a program's values.
//
// The tensors are views of the program's own memory. If the operator gives an output another size than the program's
// tensor has, that tensor is resized as far as its memory was planned for. A call that cannot be made, or that throws,
// fails in its context, and logs why with the operator's name.
//
// It includes no header of PyTorch, so that what calls operators compiles fast; aten_operator.cpp has the reasons.
class AtenOperator {
 public:
  // Args:
  //   name: the operator's name as a program has it, for messages, e.g. `aten::add.out`.
  //   dispatched_name, overload: as PyTorch's dispatcher has it, e.g. `aten::add` and `out`.
  AtenOperator(const char* name, const char* dispatched_name, const char* overload);
  ~AtenOperator();

  // Calls the operator. `stack` has the arguments in the order of the schema, and last what the call returns: an alias
  // of what it writes to, or a number.
  void Call(executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext& context,
            executorch::runtime::Span<executorch::runtime::EValue*> stack) const;

 private:
  class Signature;

  const char* name_;
  std::unique_ptr<const Signature> signature_;
};

}  // namespace rules_executorch::ET_RUNTIME_NAMESPACE
