// The functions of ExecuTorch's runtime that kernels call, for binaries without the runtime. ExecuTorch's headers
// declare the functions, and describe them. If a binary has ExecuTorch's runtime, too, the definitions of the runtime
// win.

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/abort.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>

#include <algorithm>
#include <cstdarg>
#include <cstdlib>

#if ET_LOG_ENABLED
#include <cstdio>
#endif

#if defined(__unix__) || defined(__APPLE__) || defined(_WIN32)
#include <chrono>
#define HAS_CLOCK
#endif

#ifdef _WIN32
#define IF_NONE_ELSE
#else
#define IF_NONE_ELSE [[gnu::weak]]
#endif

namespace executorch::runtime {

IF_NONE_ELSE void runtime_abort() { std::abort(); }

// For random numbers. Without a clock, these are the same after each start, unless a board defines the function.
IF_NONE_ELSE et_timestamp_t pal_current_ticks() {
#ifdef HAS_CLOCK
  return static_cast<et_timestamp_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#else
  return 0;
#endif
}

#if ET_LOG_ENABLED
namespace internal {

IF_NONE_ELSE et_timestamp_t get_log_timestamp() { return 0; }

IF_NONE_ELSE void vlogf(LogLevel, et_timestamp_t, const char* file, const char*, size_t line, const char* format,
                        va_list arguments) {
  std::fprintf(stderr, "%s:%u: ", file, static_cast<unsigned>(line));
  std::vfprintf(stderr, format, arguments);
  std::fputc('\n', stderr);
}

}  // namespace internal
#endif

namespace etensor {

IF_NONE_ELSE ssize_t compute_numel(const TensorImpl::SizesType* sizes, ssize_t dim) {
  ssize_t numel = 1;
  for (ssize_t d = 0; d < dim; ++d) {
    numel *= sizes[d];
  }
  return numel;
}

IF_NONE_ELSE TensorImpl::TensorImpl(ScalarType type, ssize_t dim, SizesType* sizes, void* data, DimOrderType* dim_order,
                                    StridesType* strides, TensorShapeDynamism dynamism, DeviceType device_type,
                                    DeviceIndex device_index)
    : sizes_(sizes),
      dim_order_(dim_order),
      strides_(strides),
      data_(data),
      dim_(dim),
      numel_(compute_numel(sizes, dim)),
      numel_bound_(static_cast<size_t>(numel_)),
      type_(type),
      shape_dynamism_(dynamism),
      device_(device_type, device_index) {}

IF_NONE_ELSE ssize_t TensorImpl::element_size() const { return static_cast<ssize_t>(elementSize(type_)); }

IF_NONE_ELSE size_t TensorImpl::nbytes() const { return static_cast<size_t>(numel_) * elementSize(type_); }

IF_NONE_ELSE Error TensorImpl::internal_resize_contiguous(ArrayRef<SizesType> new_sizes) {
  if (new_sizes.size() != static_cast<size_t>(dim_)) {
    return Error::NotSupported;
  }
  if (std::equal(new_sizes.begin(), new_sizes.end(), sizes_)) {
    return Error::Ok;
  }
  const auto numel = static_cast<size_t>(compute_numel(new_sizes.data(), dim_));
  if (shape_dynamism_ == TensorShapeDynamism::STATIC || numel > numel_bound_) {
    return Error::NotSupported;
  }
  std::copy(new_sizes.begin(), new_sizes.end(), sizes_);
  StridesType step = 1;
  for (ssize_t i = dim_; i-- > 0;) {
    const auto d = dim_order_[i];
    strides_[d] = step;
    step *= std::max<SizesType>(sizes_[d], 1);
  }
  numel_ = static_cast<ssize_t>(numel);
  return Error::Ok;
}

}  // namespace etensor

IF_NONE_ELSE bool tensor_is_default_dim_order(aten::Tensor tensor) {
  return is_contiguous_dim_order(tensor.dim_order().data(), tensor.dim_order().size());
}

IF_NONE_ELSE bool tensor_is_channels_last_dim_order(aten::Tensor tensor) {
  return is_channels_last_dim_order(tensor.dim_order().data(), tensor.dim_order().size());
}

IF_NONE_ELSE bool tensor_is_default_or_channels_last_dim_order(aten::Tensor tensor) {
  return tensor_is_default_dim_order(tensor) || tensor_is_channels_last_dim_order(tensor);
}

IF_NONE_ELSE bool tensor_has_valid_dim_order(aten::Tensor tensor) {
  return validate_dim_order(tensor.dim_order().data(), tensor.dim_order().size());
}

IF_NONE_ELSE bool tensors_have_same_dim_order(aten::ArrayRef<aten::Tensor> tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [&](const aten::Tensor& tensor) { return tensor.dim_order().equals(tensors[0].dim_order()); });
}

namespace internal {

// The friend of TensorImpl that may resize.
class TensorResizerFriend final {
 public:
  static Error resize(etensor::TensorImpl* tensor, ArrayRef<etensor::TensorImpl::SizesType> sizes) {
    return tensor->internal_resize_contiguous(sizes);
  }
};

IF_NONE_ELSE Error resize_tensor_impl(etensor::TensorImpl* tensor, ArrayRef<etensor::TensorImpl::SizesType> new_sizes) {
  return TensorResizerFriend::resize(tensor, new_sizes);
}

}  // namespace internal

}  // namespace executorch::runtime
