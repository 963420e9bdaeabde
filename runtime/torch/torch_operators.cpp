#include "runtime/torch/torch_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/torch/torch_call.h"
#include "runtime/torch/torch_kernel.h"

namespace rules_executorch {
namespace {

using c10::FunctionSchema;
using executorch::runtime::Kernel;
using executorch::runtime::Span;

// Never destroyed: Python may call operators until the very end.
std::deque<OperatorKernels>& Operators() {
  static auto* const operators = new std::deque<OperatorKernels>();
  return *operators;
}

torch::Library& Fragment(const std::string& ns) {
  static auto* const libraries = new std::deque<std::pair<std::string, torch::Library>>();
  for (auto& [name, library] : *libraries) {
    if (name == ns) return library;
  }
  return libraries
      ->emplace_back(std::piecewise_construct, std::forward_as_tuple(ns),
                     std::forward_as_tuple(torch::Library::FRAGMENT, ns, std::nullopt, __FILE__, __LINE__))
      .second;
}

void Define(const TorchOperator& declared, const std::string& schema_text, size_t num_fresh, const std::string& name,
            const std::vector<Kernel>& kernels) {
  const FunctionSchema schema = torch::schema((std::string(declared.ns) + "::" + schema_text).c_str());
  if (const auto defined = c10::Dispatcher::singleton().findSchema(schema.operator_name())) {
    if (num_fresh == 0 && defined->schema() != schema) {
      TORCH_WARN(schema.operator_name(), " (", declared.location, ") is defined already, as ", defined->schema(),
                 "; this definition is left out: ", schema);
    }
    return;
  }
  OperatorKernels& op = Operators().emplace_back();
  op.name = name;
  op.location = declared.location;
  op.kernels = kernels;
  op.num_fresh = num_fresh;
  torch::Library& library = Fragment(declared.ns);
  library.def(schema_text.c_str());
  const std::string own_name = schema_text.substr(0, schema_text.find('('));
  // For each device, so that a call without tensors finds it too; a fake has a key of its own.
  for (const c10::DispatchKey key : {c10::DispatchKey::CompositeExplicitAutograd, c10::DispatchKey::Meta}) {
    library.impl(own_name.c_str(),
                 torch::dispatch(key, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<TorchKernel>(op))));
  }
}

}  // namespace

bool DefineTorchOperators(Span<const TorchOperator> operators, Span<const Kernel> kernels) {
  for (const TorchOperator& op : operators) {
    const std::string schema = op.schema;
    const std::string name = std::string(op.ns) + "::" + schema.substr(0, schema.find('('));
    std::vector<Kernel> own;
    for (const Kernel& kernel : kernels) {
      if (name == kernel.name_) own.push_back(kernel);
    }
    Define(op, schema, 0, name, own);
    if (op.functional != nullptr) {
      const size_t num_returns = torch::schema((std::string(op.ns) + "::" + op.functional).c_str()).returns().size();
      Define(op, op.functional, num_returns, name, own);
    }
  }
  return true;
}

}  // namespace rules_executorch
