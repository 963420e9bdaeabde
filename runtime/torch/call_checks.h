#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>

#include <vector>

#include "runtime/torch/kernel_call.h"
#include "runtime/torch/torch_call.h"

namespace rules_executorch {

// Each check throws c10::Error with the likely cause and the fix.

// A fake tells shapes and dtypes: the operator must return tensors only.
void CheckHasFake(const OperatorKernels& op, const c10::FunctionSchema& schema);

// What a fake call says must not depend on the values that the call made up.
void CheckFake(const OperatorKernels& op, const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> arguments,
               const TorchCall& call, CallSetting setting);

// A kernel that takes a result as it is must be one that takes the result in no other shape, or resizes it to this one.
void CheckShapesKnown(const OperatorKernels& op, const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> arguments,
                      const TorchCall& call, CallSetting setting);

// The error of a call that the kernel refused, whatever the dtypes of the results.
[[noreturn]] void RefuseCall(const OperatorKernels& op, const c10::FunctionSchema& schema, const Outcome& outcome,
                             const std::vector<at::ScalarType>& dtypes);

}  // namespace rules_executorch
