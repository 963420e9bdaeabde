#pragma once

#include <ATen/core/boxing/OperatorKernel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/util/ArrayRef.h>

#include <memory>
#include <vector>

#include "runtime/torch/kernel_call.h"
#include "runtime/torch/torch_call.h"

namespace rules_executorch {

// The kernels of an operator behind PyTorch's dispatcher.
class TorchKernel : public c10::OperatorKernel {
 public:
  explicit TorchKernel(OperatorKernels& op) : op_(op) {}

  void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet keys, torch::jit::Stack* stack);

 private:
  std::vector<c10::IValue> Run(const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> arguments);

  // Finds a call that the kernel accepts.
  std::unique_ptr<TorchCall> Find(const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> arguments,
                                  const std::vector<at::Tensor>& tensors, CallSetting& setting) const;

  // Finds a call that the kernel accepts, with results of any candidate dtypes. If there is none, returns null and sets
  // the outcome of the call.
  std::unique_ptr<TorchCall> Offer(const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> arguments,
                                   CallSetting& setting, Outcome& outcome) const;

  OperatorKernels& op_;
};

}  // namespace rules_executorch
