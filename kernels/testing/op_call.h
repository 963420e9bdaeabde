// A call of an operator: its arguments as the runtime's values, with their memory.

#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/tensor_shape_dynamism.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace op_caller {

/// The memory of a tensor's metadata.
struct TensorStorage {
  std::vector<executorch::aten::SizesType> sizes;
  std::vector<executorch::aten::DimOrderType> dim_order;
  std::vector<executorch::aten::StridesType> strides;
  std::unique_ptr<executorch::aten::TensorImpl> impl;
};

/// The memory of a list: its boxed elements, and memory for the unboxed elements.
template <typename T>
struct ListStorage {
  std::vector<std::unique_ptr<executorch::runtime::EValue>> elements;
  std::vector<executorch::runtime::EValue*> pointers;
  std::vector<T> unboxed;
  std::unique_ptr<executorch::runtime::BoxedEvalueList<T>> boxed;
};

/// Push the values in the order of the operator's schema, out arguments last. The call owns their memory, except the
/// elements of tensors.
class OpCall {
 public:
  explicit OpCall(executorch::runtime::OpFunction function) : function_(function) {}

  void push(executorch::runtime::EValue value) {
    values_.push_back(std::make_unique<executorch::runtime::EValue>(std::move(value)));
  }

  void push_tensor(TensorStorage storage, executorch::aten::ScalarType dtype, void* data,
                   executorch::aten::TensorShapeDynamism dynamism);

  /// A string, or a list whose elements the runtime reads from memory directly.
  template <typename T>
  void push_array(const T* data, int64_t size);

  void push_int_list(const int64_t* data, size_t size);

  /// Replaces the last `size` values by one list of them. The unboxed values are `fill` until the runtime unboxes them.
  template <typename T>
  void push_list_of_last(size_t size, T fill) {
    push(make_list<T>(take_last(size), fill));
  }

  const executorch::runtime::EValue& value(size_t index) const { return *values_[index]; }

  /// From now on, the temporary memory of kernels is between guard bytes. A kernel fails if it writes to guard bytes.
  void guard_memory() { guards_memory_ = true; }

  /// Runs the kernel. The last `out_count` values are the out arguments. As in programs, the return values of the
  /// operator are passed after them.
  executorch::runtime::Error run(size_t out_count);

 private:
  using Values = std::vector<std::unique_ptr<executorch::runtime::EValue>>;

  template <typename T>
  executorch::runtime::EValue make_list(Values elements, T fill);

  Values take_last(size_t count);

  /// Keeps memory of any type until the call is deleted, and returns its address.
  template <typename T>
  T* keep(std::unique_ptr<T> memory) {
    T* address = memory.get();
    storage_.push_back(std::shared_ptr<T>(std::move(memory)));
    return address;
  }

  executorch::runtime::OpFunction function_;
  std::vector<std::shared_ptr<void>> storage_;
  Values values_;
  std::unique_ptr<executorch::runtime::EValue> result_list_;
  bool guards_memory_ = false;
};

template <typename T>
void OpCall::push_array(const T* data, int64_t size) {
  auto copy = std::make_unique<std::unique_ptr<T[]>>(std::make_unique<T[]>(size + 1));
  std::copy_n(data, size, copy->get());
  T* elements = keep(std::move(copy))->get();
  push(executorch::runtime::EValue(
      keep(std::make_unique<executorch::aten::ArrayRef<T>>(elements, static_cast<size_t>(size)))));
}

template <typename T>
executorch::runtime::EValue OpCall::make_list(Values elements, T fill) {
  auto list = std::make_unique<ListStorage<T>>();
  const size_t size = elements.size();
  list->elements = std::move(elements);
  for (const auto& element : list->elements) {
    list->pointers.push_back(element.get());
  }
  list->pointers.push_back(nullptr);  // an empty list needs an address, too
  list->unboxed.assign(size + 1, fill);
  list->boxed = std::make_unique<executorch::runtime::BoxedEvalueList<T>>(list->pointers.data(), list->unboxed.data(),
                                                                          static_cast<int>(size));
  return executorch::runtime::EValue(keep(std::move(list))->boxed.get());
}

}  // namespace op_caller
