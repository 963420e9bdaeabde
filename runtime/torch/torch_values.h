#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include <vector>

#include "runtime/torch/kernel_call.h"

namespace rules_executorch {

using Sizes = std::vector<SizesType>;

inline executorch::aten::ScalarType ToLean(at::ScalarType dtype) {
  return static_cast<executorch::aten::ScalarType>(dtype);
}
inline at::ScalarType ToTorch(executorch::aten::ScalarType dtype) { return static_cast<at::ScalarType>(dtype); }

// Whether an operator writes to the argument, or returns an argument to which it has written.
bool IsWritten(const c10::Argument& argument);

// The defined tensors among the values, including those in lists.
std::vector<at::Tensor> TensorsOf(at::ArrayRef<c10::IValue> values);

// The dim order of the tensor if it is dense and programs support the dim order. Otherwise empty.
std::vector<DimOrderType> DimOrderOf(const at::Tensor& tensor);

Sizes SizesOf(const executorch::aten::Tensor& tensor);

}  // namespace rules_executorch
