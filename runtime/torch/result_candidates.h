#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>

#include <vector>

#include "runtime/torch/torch_values.h"

namespace rules_executorch {

// The most likely shape of a result: that of an elementwise operator of the tensors.
Sizes LikelySizes(const std::vector<at::Tensor>& tensors);

// The dtypes for trial calls, in this order: the arguments of type ScalarType, the common dtype of the tensors, and all
// others.
std::vector<at::ScalarType> CandidateDtypes(const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> arguments);

}  // namespace rules_executorch
