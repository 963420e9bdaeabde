#include "runtime/compiled/support.h"

#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <algorithm>
#include <cstring>

namespace compiled_program {

namespace {

// The sizes of a tensor with fixed sizes are constants. ExecuTorch's tensors take addresses that are not const, and
// write only to sizes that change.
template <typename T>
T* not_const(const T* constants) {
  return const_cast<T*>(constants);
}

}  // namespace

FixedTensor::FixedTensor(const TensorInfo& info, uint8_t* const* memories)
    : impl_(static_cast<executorch::aten::ScalarType>(info.dtype), info.rank, not_const(info.sizes),
            address(info, memories), not_const(info.dim_order), not_const(info.strides)),
      tensor_(&impl_) {}

TensorImpl dynamic_tensor(const TensorInfo& info, uint8_t* const* memories, int32_t* sizes, int32_t* strides) {
  std::copy_n(info.sizes, info.rank, sizes);
  std::copy_n(info.strides, info.rank, strides);
  return TensorImpl(static_cast<executorch::aten::ScalarType>(info.dtype), info.rank, sizes, address(info, memories),
                    not_const(info.dim_order), strides, executorch::runtime::TensorShapeDynamism::DYNAMIC_BOUND);
}

Error resize(TensorImpl& tensor, ArrayRef<int32_t> sizes) {
  if (std::any_of(sizes.begin(), sizes.end(), [](int32_t size) { return size < 0; })) {
    return Error::InvalidArgument;
  }
  return executorch::runtime::internal::resize_tensor_impl(&tensor, sizes);
}

namespace {

Error view_with(const Tensor& self, ArrayRef<int32_t> sizes, const Tensor& out) {
  TensorImpl& impl = *out.unsafeGetTensorImpl();
  const Error error = resize(impl, sizes);
  if (error == Error::Ok) {
    impl.set_data(self.mutable_data_ptr());
  }
  return error;
}

}  // namespace

Error view(const Tensor& self, ArrayRef<int64_t> sizes, const Tensor& out) {
  constexpr size_t kNone = executorch::runtime::kTensorDimensionLimit;
  if (sizes.size() > kNone) {
    return Error::InvalidArgument;
  }
  int32_t resolved[executorch::runtime::kTensorDimensionLimit];
  int64_t known = 1;
  size_t open = kNone;
  for (size_t d = 0; d < sizes.size(); ++d) {
    resolved[d] = static_cast<int32_t>(sizes[d]);
    if (sizes[d] != -1) {
      known *= sizes[d];
    } else if (open == kNone) {
      open = d;
    } else {
      return Error::InvalidArgument;
    }
  }
  if (open != kNone) {
    if (known <= 0 || self.numel() % known != 0) {
      return Error::InvalidArgument;
    }
    resolved[open] = static_cast<int32_t>(self.numel() / known);
  } else if (known != self.numel()) {
    return Error::InvalidArgument;
  }
  return view_with(self, ArrayRef<int32_t>(resolved, sizes.size()), out);
}

Error view(const Tensor& self, const Tensor& out) { return view_with(self, self.sizes(), out); }

Error copy_index(const Tensor& copy_to, const Tensor& copy_from, int64_t index) {
  const auto rank = static_cast<size_t>(copy_from.dim());
  if (index < 0 || index >= INT32_MAX || copy_to.dim() != copy_from.dim() + 1 ||
      rank >= executorch::runtime::kTensorDimensionLimit) {
    return Error::InvalidArgument;
  }
  int32_t sizes[executorch::runtime::kTensorDimensionLimit];
  sizes[0] = static_cast<int32_t>(index + 1);
  std::copy_n(copy_from.sizes().data(), rank, sizes + 1);
  if (copy_to.size(0) <= index) {
    const Error error = resize(*copy_to.unsafeGetTensorImpl(), ArrayRef<int32_t>(sizes, rank + 1));
    if (error != Error::Ok) {
      return error;
    }
  }
  if (!std::equal(sizes + 1, sizes + rank + 1, copy_to.sizes().data() + 1)) {
    return Error::InvalidArgument;
  }
  std::memcpy(static_cast<uint8_t*>(copy_to.mutable_data_ptr()) + static_cast<size_t>(index) * copy_from.nbytes(),
              copy_from.const_data_ptr(), copy_from.nbytes());
  return Error::Ok;
}

void* Scratch::allocate(size_t size, size_t alignment) {
  void* const memory = MemoryAllocator::allocate(size, alignment);
  most_ = std::max<size_t>(most_, memory == nullptr ? used_size() + size : used_size());
  return memory;
}

int64_t integer_item(const Tensor& tensor) {
  using executorch::aten::ScalarType;
  switch (tensor.scalar_type()) {
    case ScalarType::Byte:
      return *tensor.const_data_ptr<uint8_t>();
    case ScalarType::Char:
      return *tensor.const_data_ptr<int8_t>();
    case ScalarType::Short:
      return *tensor.const_data_ptr<int16_t>();
    case ScalarType::Int:
      return *tensor.const_data_ptr<int32_t>();
    default:
      return *tensor.const_data_ptr<int64_t>();
  }
}

double floating_item(const Tensor& tensor) {
  using executorch::aten::ScalarType;
  switch (tensor.scalar_type()) {
    case ScalarType::Half:
      return static_cast<float>(*tensor.const_data_ptr<executorch::aten::Half>());
    case ScalarType::BFloat16:
      return static_cast<float>(*tensor.const_data_ptr<executorch::aten::BFloat16>());
    case ScalarType::Float:
      return *tensor.const_data_ptr<float>();
    default:
      return *tensor.const_data_ptr<double>();
  }
}

bool is_true(const Tensor& tensor) {
  const auto* const elements = tensor.const_data_ptr<bool>();
  return std::all_of(elements, elements + tensor.numel(), [](bool element) { return element; });
}

}  // namespace compiled_program
