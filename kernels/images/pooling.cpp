#include "kernels/images/pooling.h"

#include <limits>

#include "kernels/tensors/resize.h"

namespace rules_executorch::kernels {
namespace {

bool has_one_or_two(const ArrayRef<int64_t>& values, int64_t min) {
  ET_CHECK_OR_RETURN_FALSE(values.size() == 1 || values.size() == 2, "expected 1 or 2 numbers, got %zu", values.size());
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

bool Pooling::init(const Tensor& in, const ArrayRef<int64_t>& kernel, const ArrayRef<int64_t>& stride,
                   const ArrayRef<int64_t>& padding, const ArrayRef<int64_t>& dilation, bool ceil_mode) {
  ET_CHECK_OR_RETURN_FALSE(in.dim() == 3 || in.dim() == 4, "the input has %d dimensions, expected 3 or 4",
                           int(in.dim()));
  // Only the batch may be empty.
  for (int64_t d = in.dim() - 3; d < in.dim(); ++d) {
    ET_CHECK_OR_RETURN_FALSE(in.sizes()[d] > 0, "expected non-empty channels, height and width");
  }
  ET_LOG_AND_RETURN_IF_FALSE(has_one_or_two(kernel, 1) && has_one_or_two(padding, 0) && has_one_or_two(dilation, 1));
  ET_LOG_AND_RETURN_IF_FALSE(stride.empty() || has_one_or_two(stride, 1));
  return init_dim(h, in.sizes()[in.dim() - 2], kernel, stride, padding, dilation, ceil_mode, 0) &&
         init_dim(w, in.sizes()[in.dim() - 1], kernel, stride, padding, dilation, ceil_mode, 1);
}

bool Pooling::resize(Tensor& out, const Tensor& in) const {
  Tensor::SizesType sizes[4];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  sizes[in.dim() - 2] = static_cast<Tensor::SizesType>(h.out_size);
  sizes[in.dim() - 1] = static_cast<Tensor::SizesType>(w.out_size);
  return resize_to(out, {sizes, static_cast<size_t>(in.dim())});
}

}  // namespace rules_executorch::kernels
