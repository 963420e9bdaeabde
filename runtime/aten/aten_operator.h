#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include <memory>

namespace rules_executorch::ET_RUNTIME_NAMESPACE {

// An operator of PyTorch's dispatcher that is called with a program's values.
//
// The tensors are views of the program's memory. If the operator gives an output another size than that of the
// program's tensor, the tensor is resized up to its planned memory. If a call is invalid or throws, it fails in its
// context and logs the reason with the operator's name.
//
// This header includes no header of PyTorch, so that callers compile fast. aten_operator.cpp has the reasons.
class AtenOperator {
 public:
  // Args:
  //   name: the name of the operator in programs, for messages, e.g. `aten::add.out`.
  //   dispatched_name, overload: the names in PyTorch's dispatcher, e.g. `aten::add` and `out`.
  AtenOperator(const char* name, const char* dispatched_name, const char* overload);
  ~AtenOperator();

  // Calls the operator. `stack` has the arguments in the order of the schema, then the return value: an alias of an
  // output, or a number.
  void Call(executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext& context,
            executorch::runtime::Span<executorch::runtime::EValue*> stack) const;

 private:
  class Signature;

  const char* name_;
  std::unique_ptr<const Signature> signature_;
};

}  // namespace rules_executorch::ET_RUNTIME_NAMESPACE
