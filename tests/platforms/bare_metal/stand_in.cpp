// Stands in for the runtime, of whose sources the wheel has headers only: tensors of a fixed shape, and a registry of a
// few kernels. A program that loads .pte files needs ExecuTorch's own.

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/abort.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "examples/microcontroller/board.h"

namespace executorch::runtime {

namespace {

Kernel registered[8];
size_t registered_count = 0;

}  // namespace

void runtime_abort() { end(false); }

Error register_kernels(const Span<const Kernel> kernels) {
  for (const Kernel& kernel : kernels) {
    if (registered_count == std::size(registered)) {
      return Error::RegistrationExceedingMaxKernels;
    }
    registered[registered_count++] = kernel;
  }
  return Error::Ok;
}

Result<OpFunction> get_op_function_from_registry(const char* name, Span<const TensorMeta>) {
  for (const Kernel& kernel : Span<const Kernel>(registered, registered_count)) {
    if (std::strcmp(kernel.name_, name) == 0) {
      return kernel.op_;
    }
  }
  return Error::OperatorMissing;
}

// The image's operators take no such lists.
template <>
aten::ArrayRef<std::optional<aten::Tensor>> BoxedEvalueList<std::optional<aten::Tensor>>::get() const {
  runtime_abort();
}

namespace etensor {

TensorImpl::TensorImpl(ScalarType type, ssize_t dim, SizesType* sizes, void* data, DimOrderType* dim_order,
                       StridesType* strides, TensorShapeDynamism dynamism, DeviceType device_type,
                       DeviceIndex device_index)
    : sizes_(sizes),
      dim_order_(dim_order),
      strides_(strides),
      data_(data),
      dim_(dim),
      numel_(1),
      numel_bound_(0),
      type_(type),
      shape_dynamism_(dynamism),
      device_(device_type, device_index) {
  for (ssize_t d = 0; d < dim; ++d) {
    numel_ *= sizes[d];
  }
  numel_bound_ = numel_;
}

}  // namespace etensor

namespace internal {

Error resize_tensor_impl(aten::TensorImpl* impl, aten::ArrayRef<aten::SizesType> new_sizes) {
  const auto sizes = impl->sizes();
  const bool same = std::equal(sizes.begin(), sizes.end(), new_sizes.begin(), new_sizes.end());
  return same ? Error::Ok : Error::NotSupported;
}

}  // namespace internal

}  // namespace executorch::runtime
