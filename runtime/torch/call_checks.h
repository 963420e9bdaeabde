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

// A fake returns shapes and dtypes: the operator must return tensors only.
void CheckHasFake(const OperatorKernels& op, const c10::FunctionSchema& schema);

// The result of a fake call must not depend on the made-up values of the call.
void CheckFake(const OperatorKernels& op, const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> arguments,
               const TorchCall& call, CallSetting setting);

// A kernel that does not resize a result must refuse all other shapes of the result.
void CheckShapesKnown(const OperatorKernels& op, const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> arguments,
                      const TorchCall& call, CallSetting setting);

// Throws the error of a call that the kernel has refused for all dtypes of the results.
[[noreturn]] void RefuseCall(const OperatorKernels& op, const c10::FunctionSchema& schema, const Outcome& outcome,
                             const std::vector<at::ScalarType>& dtypes);

}  // namespace rules_executorch
