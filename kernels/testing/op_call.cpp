#include "kernels/testing/op_call.h"

#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

namespace op_caller {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::aten::TensorShapeDynamism;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;

void OpCall::push_tensor(TensorStorage storage, ScalarType dtype, void* data, TensorShapeDynamism dynamism) {
  TensorStorage* kept = keep(std::make_unique<TensorStorage>(std::move(storage)));
  kept->impl = std::make_unique<TensorImpl>(dtype, kept->sizes.size(), kept->sizes.data(), data, kept->dim_order.data(),
                                            kept->strides.data(), dynamism);
  push(EValue(Tensor(kept->impl.get())));
}

void OpCall::push_int_list(const int64_t* data, size_t size) {
  Values elements;
  for (size_t i = 0; i < size; ++i) {
    elements.push_back(std::make_unique<EValue>(data[i]));
  }
  push(make_list<int64_t>(std::move(elements), 0));
}

executorch::runtime::Error OpCall::run(size_t out_count) {
  std::vector<EValue*> stack;
  for (const auto& value : values_) {
    stack.push_back(value.get());
  }
  if (out_count == 1) {
    stack.push_back(stack.back());
  } else {
    Values results;
    for (size_t i = 0; i < out_count; ++i) {
      results.push_back(std::make_unique<EValue>(*stack[stack.size() - out_count + i]));
    }
    result_list_ = std::make_unique<EValue>(make_list<Tensor>(std::move(results), Tensor(nullptr)));
    stack.push_back(result_list_.get());
  }
  executorch::extension::MallocMemoryAllocator temp_allocator;
  KernelRuntimeContext context(nullptr, &temp_allocator);
  function_(context, Span<EValue*>(stack.data(), stack.size()));
  return context.failure_state();
}

OpCall::Values OpCall::take_last(size_t count) {
  const auto first = values_.end() - static_cast<std::ptrdiff_t>(count);
  Values taken(std::make_move_iterator(first), std::make_move_iterator(values_.end()));
  values_.erase(first, values_.end());
  return taken;
}

}  // namespace op_caller
