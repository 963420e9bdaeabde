#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>
#include <c10/core/SymInt.h>
#include <c10/util/ArrayRef.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/torch/kernel_call.h"
#include "runtime/torch/torch_values.h"
#include "runtime/torch/value_memory.h"

namespace rules_executorch {

// The kernels behind one operator of PyTorch.
struct OperatorKernels {
  std::string name;      // name of the kernels' operator, "my_ops::mul4.out"
  std::string location;  // "custom_ops.yaml:6"
  std::vector<executorch::runtime::Kernel> kernels;
  // The number of results among the last arguments of a kernel for which PyTorch's caller passes no tensors.
  size_t num_fresh;
  std::once_flag warned_of_symbols;
};

// The settings of a call besides the caller's arguments.
struct CallSetting {
  // The dtypes of the fresh results, and their initial sizes.
  std::vector<at::ScalarType> dtypes;
  std::vector<Sizes> fresh_sizes;
  // For each out argument of the caller: the sizes that a kernel has requested, if their number of dimensions differs.
  std::vector<std::optional<Sizes>> out_sizes;
  // In a fake call: the values of tensors without memory.
  std::optional<Values> values;
};

// A call of a kernel with PyTorch's values, converted to the runtime's.
class TorchCall {
 public:
  TorchCall(const OperatorKernels& op, const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> arguments,
            const CallSetting& setting);
  TorchCall(const TorchCall&) = delete;
  TorchCall& operator=(const TorchCall&) = delete;

  Outcome Run();

  // After a failed call: adopts the numbers of dimensions that the kernel has requested. Returns false if there are
  // none.
  bool AdoptWanted(CallSetting& setting) const;

  const std::vector<KernelTensor*>& fresh() const { return fresh_; }
  const std::vector<KernelTensor*>& resizable() const { return resizable_; }

  // The name of a tensor without memory to which the kernel has written although the schema does not declare it. Empty
  // if none.
  std::string UndeclaredMutation() const;

  // Copies the results of the kernel to the caller's tensors.
  void Commit();
  // The return values of the operator.
  std::vector<c10::IValue> Results();

 private:
  struct Written {
    at::Tensor original;
    Sizes original_sizes;
    KernelTensor* view;
    bool is_out;
  };
  struct MadeUp {
    KernelTensor* view;
    const c10::Argument* argument;
  };

  executorch::runtime::EValue Convert(const c10::IValue& value, const c10::Argument& argument);
  executorch::runtime::EValue ConvertTensor(const at::Tensor& tensor, const c10::Argument& argument);
  executorch::runtime::EValue ConvertList(const c10::IValue& list, const c10::Argument& argument);
  int64_t Concrete(const c10::SymInt& value);
  KernelTensor& NewTensor(at::ScalarType dtype, const Sizes& sizes, const std::vector<DimOrderType>& dim_order,
                          void* data, bool resizable);
  executorch::runtime::OpFunction FindKernel() const;
  c10::IValue ToIValue(const executorch::runtime::EValue& value) const;
  at::Tensor ToTensor(KernelTensor& tensor) const;

  const OperatorKernels& op_;
  const c10::FunctionSchema& schema_;
  const at::ArrayRef<c10::IValue> arguments_;
  const CallSetting& setting_;

  std::deque<KernelTensor> tensors_;
  std::vector<KernelTensor*> resizable_;
  std::vector<KernelTensor*> fresh_;
  std::vector<Written> written_;
  std::vector<MadeUp> made_up_;
  size_t num_outs_ = 0;

  // The memory of the values.
  std::vector<at::Tensor> kept_;
  ValueMemory memory_;

  std::vector<executorch::runtime::EValue> values_;
  std::vector<executorch::runtime::EValue*> stack_;
};

}  // namespace rules_executorch
