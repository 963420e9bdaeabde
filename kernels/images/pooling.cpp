#include "kernels/images/pooling.h"

#include <algorithm>
#include <limits>

#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {
namespace {

/// Whether an argument has one number, or `count` numbers, all of them at least `min`.
bool is_argument(const ArrayRef<int64_t>& values, int64_t count, int64_t min) {
  ET_CHECK_OR_RETURN_FALSE(values.size() == 1 || values.size() == static_cast<size_t>(count),
                           "expected 1 or %d numbers, got %zu", int(count), values.size());
  for (const int64_t value : values) {
    // With this limit, the product of two arguments does not overflow.
    ET_CHECK_OR_RETURN_FALSE(value >= min && value <= std::numeric_limits<int32_t>::max(),
                             "the pooling argument %lld is out of range", static_cast<long long>(value));
  }
  return true;
}

bool init_dim(PoolingDim& dim, int64_t size, const ArrayRef<int64_t>& kernel, const ArrayRef<int64_t>& stride,
              const ArrayRef<int64_t>& padding, const ArrayRef<int64_t>& dilation, bool ceil_mode, size_t i) {
  const auto value = [i](const ArrayRef<int64_t>& values) { return values[values.size() == 1 ? 0 : i]; };
  dim = {size, value(kernel), value(stride.empty() ? kernel : stride), value(padding), value(dilation), 0};
  ET_CHECK_OR_RETURN_FALSE(2 * dim.padding <= (dim.kernel - 1) * dim.dilation + 1,
                           "the padding is larger than half of the kernel");
  const int64_t span = size + 2 * dim.padding - (dim.kernel - 1) * dim.dilation - 1;
  ET_CHECK_OR_RETURN_FALSE(span >= 0 || (ceil_mode && span > -dim.stride),
                           "the kernel is larger than the padded input");
  dim.out_size = (span + (ceil_mode ? dim.stride - 1 : 0)) / dim.stride + 1;
  // The last window must start in the input or in the padding before the input.
  if (ceil_mode && dim.begin(dim.out_size - 1) >= size) {
    --dim.out_size;
  }
  ET_CHECK_OR_RETURN_FALSE(dim.out_size >= 1, "the output size is less than 1");
  return true;
}

}  // namespace

bool init_pooling(PoolingDim* dims, int64_t count, const Tensor& in, const ArrayRef<int64_t>& kernel,
                  const ArrayRef<int64_t>& stride, const ArrayRef<int64_t>& padding, const ArrayRef<int64_t>& dilation,
                  bool ceil_mode) {
  ET_CHECK_OR_RETURN_FALSE(in.dim() == count + 1 || in.dim() == count + 2,
                           "the input has %d dimensions, expected %d or %d", int(in.dim()), int(count + 1),
                           int(count + 2));
  // Only the batch may be empty.
  const int64_t first = in.dim() - count;
  for (int64_t d = first - 1; d < in.dim(); ++d) {
    ET_CHECK_OR_RETURN_FALSE(in.sizes()[d] > 0, "expected non-empty channels and images");
  }
  ET_LOG_AND_RETURN_IF_FALSE(is_argument(kernel, count, 1) && is_argument(padding, count, 0) &&
                             is_argument(dilation, count, 1));
  ET_LOG_AND_RETURN_IF_FALSE(stride.empty() || is_argument(stride, count, 1));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t size = in.sizes()[first + i];
    ET_LOG_AND_RETURN_IF_FALSE(init_dim(dims[i], size, kernel, stride, padding, dilation, ceil_mode, i));
  }
  return true;
}

bool resize_pooled(Tensor& out, const Tensor& in, const PoolingDim* dims, int64_t count) {
  Tensor::SizesType sizes[kTensorDimensionLimit];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  for (int64_t i = 0; i < count; ++i) {
    sizes[in.dim() - count + i] = static_cast<Tensor::SizesType>(dims[i].out_size);
  }
  return resize_to(out, {sizes, static_cast<size_t>(in.dim())});
}

bool Pooling::init(const Tensor& in, const ArrayRef<int64_t>& kernel, const ArrayRef<int64_t>& stride,
                   const ArrayRef<int64_t>& padding, const ArrayRef<int64_t>& dilation, bool ceil_mode) {
  PoolingDim dims[2];
  ET_LOG_AND_RETURN_IF_FALSE(init_pooling(dims, 2, in, kernel, stride, padding, dilation, ceil_mode));
  h = dims[0];
  w = dims[1];
  return true;
}

bool Pooling::resize(Tensor& out, const Tensor& in) const {
  const PoolingDim dims[] = {h, w};
  return resize_pooled(out, in, dims, 2);
}

}  // namespace rules_executorch::kernels
