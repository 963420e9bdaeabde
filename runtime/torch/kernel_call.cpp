#include "runtime/torch/kernel_call.h"

#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/abort.h>
#include <executorch/runtime/platform/log.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <numeric>
#include <type_traits>

namespace rules_executorch {
namespace {

using executorch::aten::ArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::TensorImpl;
using executorch::aten::TensorShapeDynamism;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::LogLevel;
using executorch::runtime::OpFunction;
using executorch::runtime::Span;

constexpr size_t kAlignment = 64;
// Additional memory: a kernel that writes past its result without resizing it should not crash PyTorch.
constexpr size_t kSlack = 4096;
constexpr size_t kMaxLogLine = 1024;

// The current call of this thread.
struct ActiveCall {
  const std::vector<KernelTensor*>& resizable;
  std::string log;
};
thread_local ActiveCall* active_call = nullptr;

// Thrown instead of ending the program.
class Aborted : public std::exception {
 public:
  const char* what() const noexcept override { return "the kernel aborted"; }
};

KernelTensor* FindResizable(const TensorImpl* impl) {
  if (active_call == nullptr) return nullptr;
  for (KernelTensor* tensor : active_call->resizable) {
    if (tensor->impl() == impl) return tensor;
  }
  return nullptr;
}

template <typename T>
void Write(Values values, void* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    // Small values, which all dtypes can represent.
    const int mixed = static_cast<int>(i % (std::is_integral_v<T> ? 2 : 7));
    static_cast<T*>(to)[i] = static_cast<T>(values == Values::kMixed ? mixed : values == Values::kOnes ? 1 : 0);
  }
}

// For dtypes without numbers, writes zeros only.
void Write(Values values, ScalarType dtype, void* to, size_t count, size_t nbytes) {
  std::memset(to, 0, nbytes);
#define WRITE(ctype, name) \
  if (dtype == ScalarType::name) Write<ctype>(values, to, count);
  ET_FORALL_REALHBBF16_TYPES(WRITE)
#undef WRITE
}

void AddToLog(const char* text) {
  if (active_call == nullptr) return;
  if (!active_call->log.empty()) active_call->log += "; ";
  active_call->log += text;
}

}  // namespace
}  // namespace rules_executorch

// The kernels link to these functions instead of those of the runtime's library. Because of their visibility, other
// libraries of the process still use those of the runtime.
namespace executorch::runtime {
namespace internal {

// The class that may resize tensors in the runtime.
class TensorResizerFriend {
 public:
  static Error Resize(aten::TensorImpl* impl, aten::ArrayRef<aten::SizesType> sizes) {
    return impl->internal_resize_contiguous(sizes);
  }
};

__attribute__((visibility("hidden"))) Error resize_tensor_impl(aten::TensorImpl* impl,
                                                               aten::ArrayRef<aten::SizesType> sizes) {
  rules_executorch::KernelTensor* tensor = rules_executorch::FindResizable(impl);
  return tensor != nullptr ? tensor->Resize(sizes) : TensorResizerFriend::Resize(impl, sizes);
}

__attribute__((visibility("hidden"))) void vlogf(LogLevel level, et_timestamp_t, const char* filename, const char*,
                                                 size_t line, const char* format, va_list args) {
  char text[rules_executorch::kMaxLogLine];
  const int prefix = std::snprintf(text, sizeof(text), "%s:%zu: ", filename, line);
  std::vsnprintf(text + prefix, sizeof(text) - prefix, format, args);
  if (level < LogLevel::Error || rules_executorch::active_call == nullptr) {
    std::fprintf(stderr, "%s\n", text);
  } else {
    rules_executorch::AddToLog(text);
  }
}

}  // namespace internal

__attribute__((visibility("hidden"))) void runtime_abort() { throw rules_executorch::Aborted(); }

}  // namespace executorch::runtime

namespace rules_executorch {

KernelTensor::KernelTensor(ScalarType dtype, const std::vector<SizesType>& sizes, Span<const DimOrderType> dim_order,
                           void* data, bool resizable)
    : resizable_(resizable) {
  const size_t rank = sizes.size();
  if (dim_order.size() == rank) {
    std::copy(dim_order.begin(), dim_order.end(), dim_order_.begin());
  } else {
    std::iota(dim_order_.begin(), dim_order_.begin() + rank, 0);
  }
  // A tensor never has more elements than its initial number.
  if (resizable) {
    for (size_t i = 0; i < rank; ++i) sizes_[i] = i < 2 ? std::numeric_limits<SizesType>::max() : 1;
  } else {
    std::copy(sizes.begin(), sizes.end(), sizes_.begin());
    executorch::runtime::dim_order_to_stride_nocheck(sizes_.data(), dim_order_.data(), rank, strides_.data());
  }
  impl_.emplace(dtype, static_cast<ssize_t>(rank), sizes_.data(), data, dim_order_.data(), strides_.data(),
                resizable ? TensorShapeDynamism::DYNAMIC_UNBOUND : TensorShapeDynamism::STATIC);
  if (resizable) {
    ET_CHECK(executorch::runtime::internal::TensorResizerFriend::Resize(&*impl_, {sizes.data(), rank}) == Error::Ok);
  }
  if (data == nullptr) {
    Reserve(impl_->nbytes() + kSlack);
  } else {
    capacity_ = impl_->nbytes();
  }
}

Error KernelTensor::Resize(ArrayRef<SizesType> sizes) {
  was_resized_ = true;
  if (sizes.size() != static_cast<size_t>(impl_->dim())) {
    wanted_sizes_.emplace(sizes.begin(), sizes.end());
    return Error::NotSupported;
  }
  const size_t used = impl_->nbytes();
  const Error error = executorch::runtime::internal::TensorResizerFriend::Resize(&*impl_, sizes);
  if (error == Error::Ok && impl_->nbytes() > capacity_) {
    const void* before = impl_->data();
    Memory kept = std::move(memory_);
    Reserve(impl_->nbytes());
    std::memcpy(impl_->mutable_data(), before, used);
  }
  return error;
}

void KernelTensor::Fill(Values values) {
  Write(values, impl_->scalar_type(), impl_->mutable_data(), impl_->numel(), impl_->nbytes());
}

bool KernelTensor::IsFilled(Values values) const {
  std::vector<std::byte> expected(impl_->nbytes());
  if (expected.empty()) return true;
  Write(values, impl_->scalar_type(), expected.data(), impl_->numel(), expected.size());
  return std::memcmp(expected.data(), impl_->data(), expected.size()) == 0;
}

void KernelTensor::Reserve(size_t nbytes) {
  capacity_ = (std::max<size_t>(nbytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  memory_.reset(std::aligned_alloc(kAlignment, capacity_));
  if (memory_ == nullptr) throw std::bad_alloc();
  impl_->set_data(memory_.get());
}

Outcome CallKernel(OpFunction kernel, Span<EValue*> stack, const std::vector<KernelTensor*>& resizable) {
  ActiveCall call{resizable, {}};
  ActiveCall* const outer = active_call;
  active_call = &call;
  executorch::extension::MallocMemoryAllocator temporary_memory;
  KernelRuntimeContext context(nullptr, &temporary_memory);
  Error error = Error::Ok;
  try {
    kernel(context, stack);
    error = context.failure_state();
  } catch (const Aborted&) {
    error = Error::Internal;
  } catch (const std::exception& exception) {
    AddToLog(exception.what());
    error = Error::Internal;
  } catch (...) {
    AddToLog("the kernel threw something that is no std::exception");
    error = Error::Internal;
  }
  active_call = outer;
  return {error, std::move(call.log)};
}

}  // namespace rules_executorch
