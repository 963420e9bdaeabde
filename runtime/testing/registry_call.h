// Calls operators through the registry, as a program does, with small tensors.

#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "runtime/testing/check.h"

namespace runtime_testing {

/// Sixteen doubles, and a tensor of the first `size` of them.
class Values {
 public:
  explicit Values(std::initializer_list<double> values, int32_t size = 16) : sizes_{size} {
    size_t i = 0;
    for (double value : values) data_[i++] = value;
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  executorch::aten::Tensor tensor() { return executorch::aten::Tensor(&impl_); }

  bool start_with(std::initializer_list<double> expected) const {
    size_t i = 0;
    for (double value : expected) {
      if (data_[i++] != value) return false;
    }
    return true;
  }

 private:
  std::array<double, 16> data_{};
  std::array<executorch::aten::SizesType, 1> sizes_;
  std::array<executorch::aten::DimOrderType, 1> dim_order_{0};
  std::array<executorch::aten::StridesType, 1> strides_{1};
  executorch::aten::TensorImpl impl_{
      executorch::aten::ScalarType::Double, 1, sizes_.data(), data_.data(), dim_order_.data(), strides_.data()};
};

/// Calls an operator with all values that a program passes.
inline executorch::runtime::Error call_with(const char* name, std::vector<executorch::runtime::EValue>& values) {
  const auto op = executorch::runtime::get_op_function_from_registry(name);
  CHECK(op.ok());
  std::vector<executorch::runtime::EValue*> stack;
  for (executorch::runtime::EValue& value : values) stack.push_back(&value);
  executorch::runtime::KernelRuntimeContext context;
  (*op)(context, executorch::runtime::Span<executorch::runtime::EValue*>(stack.data(), stack.size()));
  return context.failure_state();
}

/// Calls an operator with its arguments and a slot for the return value. Returns the return value.
inline executorch::runtime::EValue call(const char* name, std::vector<executorch::runtime::EValue> values) {
  values.emplace_back();
  CHECK(call_with(name, values) == executorch::runtime::Error::Ok);
  return values.back();
}

}  // namespace runtime_testing
