// Defines resize_tensor_impl() for kernels with PyTorch's tensors. ExecuTorch's tensor_util.h declares this function
// and calls it in resize_tensor(), but the wheel does not have it. This file does not include tensor_util.h, because
// the compiler needs 13 seconds more for it: it includes all of PyTorch.
#include <ATen/core/Tensor.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::runtime::aten::internal {

Error resize_tensor_impl(at::TensorImpl* impl, at::IntArrayRef new_sizes) {
  ET_CHECK_OR_RETURN_ERROR(impl->dim() == static_cast<int64_t>(new_sizes.size()), NotSupported,
                           "a tensor of %zd dimensions is not resized to %zu dimensions",
                           static_cast<ssize_t>(impl->dim()), new_sizes.size());
  at::Tensor(c10::intrusive_ptr<at::TensorImpl>::reclaim_copy(impl)).resize_(new_sizes);
  return Error::Ok;
}

}  // namespace executorch::runtime::aten::internal
