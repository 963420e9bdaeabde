#include "runtime/torch/torch_kernel.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "runtime/torch/call_checks.h"
#include "runtime/torch/result_candidates.h"
#include "runtime/torch/torch_values.h"

namespace rules_executorch {
namespace {

constexpr size_t kMaxOffers = 4096;

// Moves to the next combination of dtypes. The last dtype changes first. Returns false after the last combination.
bool Advance(std::vector<size_t>& combination, size_t count) {
  for (size_t i = combination.size(); i-- > 0;) {
    if (++combination[i] < count) return true;
    combination[i] = 0;
  }
  return false;
}

}  // namespace

using c10::FunctionSchema;
using c10::IValue;

void TorchKernel::operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet, torch::jit::Stack* stack) {
  const at::AutoDispatchBelowADInplaceOrView guard;
  const FunctionSchema& schema = handle.schema();
  const size_t count = schema.arguments().size();
  const at::ArrayRef<IValue> arguments = torch::jit::last(*stack, count);
  std::vector<IValue> results = Run(schema, arguments);
  torch::jit::drop(*stack, count);
  for (IValue& result : results) stack->push_back(std::move(result));
}

std::vector<IValue> TorchKernel::Run(const FunctionSchema& schema, at::ArrayRef<IValue> arguments) {
  TORCH_CHECK_NOT_IMPLEMENTED(!op_.kernels.empty(), schema.operator_name(), " (", op_.location, "): it has no kernel\n",
                              "  Likely cause: the library that defines it was given no kernels\n",
                              "  Fix: give it kernels, kernel_deps or custom_ops_aten_kernel_deps, or write a fake, ",
                              "@torch.library.register_fake(\"", schema.name(), "\", allow_override=True), to export ",
                              "with it");
  const std::vector<at::Tensor> tensors = TensorsOf(arguments);
  const bool is_fake =
      std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) { return tensor.is_meta(); }) ||
      c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::Meta);
  CallSetting setting;
  if (is_fake) {
    CheckHasFake(op_, schema);
    setting.values = Values::kZeros;
  }
  const std::unique_ptr<TorchCall> call = Find(schema, arguments, tensors, setting);
  if (is_fake) CheckFake(op_, schema, arguments, *call, setting);
  call->Commit();
  return call->Results();
}

std::unique_ptr<TorchCall> TorchKernel::Find(const FunctionSchema& schema, at::ArrayRef<IValue> arguments,
                                             const std::vector<at::Tensor>& tensors, CallSetting& setting) const {
  std::vector<at::ScalarType> dtypes;
  std::vector<Sizes> shapes(1);
  if (op_.num_fresh > 0) {
    dtypes = CandidateDtypes(schema, arguments);
    shapes[0] = LikelySizes(tensors);
    // Kernels may check the number of dimensions before they resize.
    const size_t rank = shapes[0].size();
    for (size_t other = rank + 2; other-- > 0;) {
      if (other != rank && other <= kMaxDims) shapes.emplace_back(other, 1);
    }
  }
  std::optional<Outcome> first;
  for (const Sizes& sizes : shapes) {
    std::vector<size_t> combination(op_.num_fresh);
    size_t offers = 0;
    do {
      setting.dtypes.clear();
      for (const size_t i : combination) setting.dtypes.push_back(dtypes[i]);
      setting.fresh_sizes.assign(op_.num_fresh, sizes);
      setting.out_sizes.clear();
      Outcome outcome;
      if (auto call = Offer(schema, arguments, setting, outcome)) return call;
      if (!first) first = std::move(outcome);
    } while (++offers < kMaxOffers && Advance(combination, dtypes.size()));
  }
  RefuseCall(op_, schema, *first, dtypes);
}

std::unique_ptr<TorchCall> TorchKernel::Offer(const FunctionSchema& schema, at::ArrayRef<IValue> arguments,
                                              CallSetting& setting, Outcome& outcome) const {
  // Each call may return the number of dimensions of one more result.
  for (size_t calls = 0; calls <= schema.returns().size() + 1; ++calls) {
    auto call = std::make_unique<TorchCall>(op_, schema, arguments, setting);
    outcome = call->Run();
    if (outcome.ok()) {
      CheckShapesKnown(op_, schema, arguments, *call, setting);
      return call;
    }
    if (!call->AdoptWanted(setting)) break;
  }
  return nullptr;
}

}  // namespace rules_executorch
