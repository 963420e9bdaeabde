#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "runtime/compiled/compiled_program.h"

// For the generated sources of compiled programs. Applications do not include this header.
namespace compiled_program {

using executorch::aten::ArrayRef;
using executorch::aten::Scalar;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::Error;

/// A tensor in a constant table.
struct TensorInfo {
  /// The sizes; of a tensor with dynamic sizes, the upper bounds. Null for a tensor without dimensions.
  const int32_t* sizes;
  const int32_t* strides;
  const uint8_t* dim_order;
  /// The offset in the memory, in bytes.
  uint32_t offset;
  /// 0 for the constants. The planned memories follow, then the memories that the application sets.
  uint8_t memory;
  int8_t dtype;
  uint8_t rank;
};

inline void* address(const TensorInfo& info, uint8_t* const* memories) {
  uint8_t* const memory = memories[info.memory];
  return memory == nullptr ? nullptr : memory + info.offset;
}

/// The constants among the memories. Nothing writes to them.
inline uint8_t* constant_bytes(const void* constants) { return static_cast<uint8_t*>(const_cast<void*>(constants)); }

/// A tensor with fixed sizes, during one call.
class FixedTensor {
 public:
  FixedTensor(const TensorInfo& info, uint8_t* const* memories);
  FixedTensor(const FixedTensor&) = delete;
  FixedTensor& operator=(const FixedTensor&) = delete;

  // Not explicit, as kernels take references of tensors.
  operator Tensor&() { return tensor_; }

 private:
  TensorImpl impl_;
  Tensor tensor_;
};

/// A tensor whose sizes change, up to those in the table. `sizes` and `strides` have room for the rank.
TensorImpl dynamic_tensor(const TensorInfo& info, uint8_t* const* memories, int32_t* sizes, int32_t* strides);

/// Changes the sizes. Returns an error, and changes nothing, if the tensor has no room for them.
Error resize(TensorImpl& tensor, ArrayRef<int32_t> sizes);

template <size_t kRank>
Error resize(TensorImpl& tensor, const int32_t (&sizes)[kRank]) {
  return resize(tensor, ArrayRef<int32_t>(sizes, kRank));
}

/// Makes `out` a view of `self` with other sizes, of which one may be -1.
Error view(const Tensor& self, ArrayRef<int64_t> sizes, const Tensor& out);

/// Makes `out` a view of `self` with the same sizes.
Error view(const Tensor& self, const Tensor& out);

/// Copies a tensor to a place along the first dimension of another one, of which the size grows if needed.
Error copy_index(const Tensor& copy_to, const Tensor& copy_from, int64_t index);

/// The memory of kernels during a call. Remembers how much was in use at once.
class Scratch final : public executorch::runtime::MemoryAllocator {
 public:
  Scratch(void* memory, size_t bytes, size_t& most)
      : MemoryAllocator(static_cast<uint32_t>(bytes), static_cast<uint8_t*>(memory)), most_(most) {}

  void* allocate(size_t size, size_t alignment) override;

 private:
  size_t& most_;
};

inline Status status_of(Error error, int32_t instruction) { return {static_cast<uint32_t>(error), instruction}; }

/// The context of the kernels of one run().
class CallContext final : public executorch::runtime::KernelRuntimeContext {
 public:
  CallContext(void* scratch, size_t scratch_bytes, size_t& most)
      : KernelRuntimeContext(/*event_tracer=*/nullptr, &scratch_), scratch_(scratch, scratch_bytes, most) {}

  /// Whether the last kernel succeeded. Frees the kernel's scratch memory.
  bool succeeded() {
    scratch_.reset();
    return failure_state() == Error::Ok;
  }

  Status failure(int32_t instruction) const { return status_of(failure_state(), instruction); }

 private:
  Scratch scratch_;
};

// The operators on numbers of ExecuTorch's runtime. Division rounds to the smaller number, as in Python. Python refuses
// a division by zero, which here gives 0, and does not end the process.

inline int64_t floor_divide(int64_t a, int64_t b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }
inline double floor_divide(double a, double b) { return std::floor(a / b); }
inline int64_t modulo(int64_t a, int64_t b) { return a - floor_divide(a, b) * b; }
inline double modulo(double a, double b) { return a - floor_divide(a, b) * b; }

/// The element of a tensor with one element.
int64_t integer_item(const Tensor& tensor);
double floating_item(const Tensor& tensor);
/// Whether all elements are true.
bool is_true(const Tensor& tensor);

}  // namespace compiled_program
