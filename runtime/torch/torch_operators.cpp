#include "runtime/torch/torch_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/torch/torch_call.h"
#include "runtime/torch/torch_kernel.h"

namespace rules_executorch {
namespace {

using c10::FunctionSchema;
using executorch::runtime::Kernel;
using executorch::runtime::Span;

// Never destroyed, because Python may call operators until the process ends.
std::deque<OperatorKernels>& Operators() {
  static auto* const operators = new std::deque<OperatorKernels>();
  return *operators;
}

// Creates a fragment of a namespace. PyTorch's messages have "registered at <origin>:<line>". Never destroyed.
torch::Library& NewFragment(const char* ns, const std::string& origin, uint32_t line) {
  static auto* const origins = new std::deque<std::string>();
  static auto* const libraries = new std::deque<torch::Library>();
  return libraries->emplace_back(torch::Library::FRAGMENT, ns, std::nullopt, origins->emplace_back(origin).c_str(),
                                 line);
}

void Define(const TorchOperator& declared, const std::string& schema_text, size_t num_fresh, const std::string& name,
            const std::string& library_label, const std::vector<Kernel>& kernels) {
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
  const std::string location = declared.location;
  const size_t colon = location.rfind(':');
  std::string origin = location.substr(0, colon);
  // diagnostics/derived_operator.py reads this text.
  if (num_fresh > 0) {
    origin = library_label + ", which derives the operator from " + name +
             " (custom_ops_functional_variants = False leaves it out), " + origin;
  }
  torch::Library& library = NewFragment(declared.ns, origin, std::stoul(location.substr(colon + 1)));
  library.def(schema_text.c_str());
  const std::string own_name = schema_text.substr(0, schema_text.find('('));
  // CompositeExplicitAutograd is for all devices, so that it is also found for calls without tensors. Fakes have their
  // own key.
  for (const c10::DispatchKey key : {c10::DispatchKey::CompositeExplicitAutograd, c10::DispatchKey::Meta}) {
    library.impl(own_name.c_str(),
                 torch::dispatch(key, torch::CppFunction::makeFromBoxedFunctor(std::make_unique<TorchKernel>(op))));
  }
}

}  // namespace

bool DefineTorchOperators(const char* label, Span<const TorchOperator> operators, Span<const Kernel> kernels) {
  for (const TorchOperator& op : operators) {
    const std::string schema = op.schema;
    const std::string name = std::string(op.ns) + "::" + schema.substr(0, schema.find('('));
    std::vector<Kernel> own;
    for (const Kernel& kernel : kernels) {
      if (name == kernel.name_) own.push_back(kernel);
    }
    Define(op, schema, 0, name, label, own);
    if (op.functional != nullptr) {
      const size_t num_returns = torch::schema((std::string(op.ns) + "::" + op.functional).c_str()).returns().size();
      Define(op, op.functional, num_returns, name, label, own);
    }
  }
  return true;
}

}  // namespace rules_executorch
