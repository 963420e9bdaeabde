#include "runtime/fuzz/touching.h"

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "runtime/fuzz/refusal.h"
#include "runtime/runner/silent_tracer.h"

namespace rules_executorch {
namespace {

using executorch::aten::Tensor;
using executorch::runtime::ChainID;
using executorch::runtime::DebugHandle;
using executorch::runtime::EValue;
using executorch::runtime::EventTracer;
using executorch::runtime::EventTracerEntry;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;

constexpr size_t kMostInstructions = 200;
// The runtime's table of kernels has a fixed size.
constexpr size_t kMostKernels = 500;

void Touch(const Tensor& tensor) {
  const size_t size = tensor.nbytes();
  if (size == 0) {
    return;
  }
  const auto* bytes = static_cast<const volatile uint8_t*>(tensor.const_data_ptr());
  if (bytes == nullptr) {
    std::abort();  // The check of programs refuses instructions with such tensors.
  }
  // An address outside of the memory is near its ends, or far away.
  static_cast<void>(bytes[0]);
  static_cast<void>(bytes[size - 1]);
}

void TouchAll(KernelRuntimeContext&, Span<EValue*> arguments) {
  for (EValue* value : arguments) {
    if (value->isTensor()) {
      Touch(value->toTensor());
    } else if (value->isTensorList()) {
      for (const Tensor& tensor : value->toTensorList()) {
        Touch(tensor);
      }
    } else if (value->isListOptionalTensor()) {
      for (const auto& tensor : value->toListOptionalTensor()) {
        if (tensor.has_value()) {
          Touch(*tensor);
        }
      }
    }
  }
}

class InstructionLimit : public SilentTracer {
 public:
  EventTracerEntry start_profiling(const char*, ChainID, DebugHandle) override {
    if (++instructions_ > kMostInstructions) {
      throw Refusal{"the program runs too many instructions"};
    }
    return {};
  }

 private:
  size_t instructions_ = 0;
};

}  // namespace

void RegisterTouchingKernel(const std::string& name) {
  static auto* const names = new std::set<std::string>;  // The runtime keeps pointers to the names.
  if (names->size() < kMostKernels && !executorch::runtime::registry_has_op_function(name.c_str(), {}) &&
      names->insert(name).second) {
    static_cast<void>(
        executorch::runtime::register_kernel(executorch::runtime::Kernel(names->find(name)->c_str(), TouchAll)));
  }
}

std::unique_ptr<EventTracer> LimitInstructions() { return std::make_unique<InstructionLimit>(); }

}  // namespace rules_executorch
