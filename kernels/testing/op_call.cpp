#include "kernels/testing/op_call.h"

#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/log.h>

#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size)
#define ASAN_UNPOISON_MEMORY_REGION(address, size)
#endif

namespace op_caller {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::aten::TensorShapeDynamism;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::Span;

namespace {

/// Temporary memory of one call, between guard bytes. The memory is filled with NaN bits, so that a kernel that reads
/// uninitialized memory does not see the data of the previous call.
class GuardedAllocator final : public MemoryAllocator {
 public:
  GuardedAllocator() : MemoryAllocator(0, nullptr) {}

  void* allocate(size_t size, size_t alignment) override {
    const size_t guard = std::max(kGuard, alignment);
    if (size > SIZE_MAX / 2) {
      return nullptr;
    }
    Part part{nullptr, size, guard};
    part.start = static_cast<unsigned char*>(::operator new(size + 2 * guard, std::align_val_t{guard}, std::nothrow));
    if (part.start == nullptr) {
      return nullptr;
    }
    std::fill_n(part.start, guard, kGuardByte);
    std::fill_n(part.start + guard, size, kFirstByte);
    std::fill_n(part.start + guard + size, guard, kGuardByte);
    ASAN_POISON_MEMORY_REGION(part.start, guard);
    ASAN_POISON_MEMORY_REGION(part.start + guard + size, guard);
    parts_.push_back(part);
    return part.start + guard;
  }

  /// Frees the memory. Returns whether the guard bytes are unchanged.
  bool release() {
    bool are_whole = true;
    for (const Part& part : parts_) {
      ASAN_UNPOISON_MEMORY_REGION(part.start, part.size + 2 * part.guard);
      const auto is_guard = [](unsigned char byte) { return byte == kGuardByte; };
      unsigned char* const end = part.start + part.guard + part.size;
      are_whole = are_whole && std::all_of(part.start, part.start + part.guard, is_guard) &&
                  std::all_of(end, end + part.guard, is_guard);
      ::operator delete(part.start, std::align_val_t{part.guard});
    }
    parts_.clear();
    return are_whole;
  }

 private:
  struct Part {
    unsigned char* start;
    size_t size;
    size_t guard;  // bytes before and after the memory
  };

  static constexpr size_t kGuard = 64;
  static constexpr unsigned char kGuardByte = 0xA5;
  static constexpr unsigned char kFirstByte = 0xFF;

  std::vector<Part> parts_;
};

}  // namespace

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
  executorch::extension::MallocMemoryAllocator plain;
  GuardedAllocator guarded;
  KernelRuntimeContext context(nullptr, guards_memory_ ? static_cast<MemoryAllocator*>(&guarded) : &plain);
  function_(context, Span<EValue*>(stack.data(), stack.size()));
  if (!guarded.release()) {
    ET_LOG(Error, "the kernel writes outside its temporary memory");
    return executorch::runtime::Error::Internal;
  }
  return context.failure_state();
}

OpCall::Values OpCall::take_last(size_t count) {
  const auto first = values_.end() - static_cast<std::ptrdiff_t>(count);
  Values taken(std::make_move_iterator(first), std::make_move_iterator(values_.end()));
  values_.erase(first, values_.end());
  return taken;
}

}  // namespace op_caller
