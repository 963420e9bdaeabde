#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rules_executorch {

using SizesType = executorch::aten::SizesType;
using DimOrderType = executorch::aten::DimOrderType;

constexpr size_t kMaxDims = executorch::runtime::kTensorDimensionLimit;

// Values for trial calls of a kernel: zeros; ones; or different values, which are 0 and 1 for integers, so that they
// are valid indices.
enum class Values { kZeros, kOnes, kMixed };

// A tensor for a call of a kernel.
//
// The runtime plans the memory of a tensor before a kernel resizes it. Here, no memory is planned, so that an output
// grows to the sizes that the kernel sets: during a call, the library's resize_tensor() is KernelTensor::Resize().
class KernelTensor {
 public:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<void, Free>;

  // A tensor over `data`, which it does not own. If `data` is null, the tensor allocates memory. An empty dim order is
  // the default.
  KernelTensor(executorch::aten::ScalarType dtype, const std::vector<SizesType>& sizes,
               executorch::runtime::Span<const DimOrderType> dim_order, void* data, bool resizable);
  KernelTensor(const KernelTensor&) = delete;
  KernelTensor& operator=(const KernelTensor&) = delete;

  executorch::aten::Tensor tensor() { return executorch::aten::Tensor(&*impl_); }
  const executorch::aten::TensorImpl* impl() const { return &*impl_; }
  bool is_resizable() const { return resizable_; }

  // Whether the kernel has resized the tensor, to any sizes.
  bool was_resized() const { return was_resized_; }

  // The sizes that the kernel has requested, if their number of dimensions differs. A tensor cannot change its number
  // of dimensions, so that the call has failed and can be repeated with matching tensors.
  const std::optional<std::vector<SizesType>>& wanted_sizes() const { return wanted_sizes_; }

  // The memory that the tensor owns, if any.
  bool has_memory() const { return memory_ != nullptr; }
  Memory ReleaseMemory() { return std::move(memory_); }

  void Fill(Values values);
  bool IsFilled(Values values) const;

  executorch::runtime::Error Resize(executorch::aten::ArrayRef<SizesType> sizes);

 private:
  void Reserve(size_t nbytes);

  std::array<SizesType, kMaxDims> sizes_{};
  std::array<executorch::aten::StridesType, kMaxDims> strides_{};
  std::array<DimOrderType, kMaxDims> dim_order_{};
  std::optional<executorch::aten::TensorImpl> impl_;
  Memory memory_;
  size_t capacity_ = 0;
  bool resizable_;
  bool was_resized_ = false;
  std::optional<std::vector<SizesType>> wanted_sizes_;
};

// The outcome of a call.
struct Outcome {
  executorch::runtime::Error error = executorch::runtime::Error::Ok;
  // The errors that the kernel has logged, and the exception that it has thrown.
  std::string log;

  bool ok() const { return error == executorch::runtime::Error::Ok; }
};

// Calls a kernel. A failed ET_CHECK, which ends a program on a device, only fails the call.
Outcome CallKernel(executorch::runtime::OpFunction kernel,
                   executorch::runtime::Span<executorch::runtime::EValue*> stack,
                   const std::vector<KernelTensor*>& resizable);

}  // namespace rules_executorch
