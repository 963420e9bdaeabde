#include "kernels/images/adaptive_pooling.h"

#include <algorithm>

#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

bool AdaptivePooling::init(const Tensor& in, const ArrayRef<int64_t>& output_size, int64_t count) {
  ET_CHECK_OR_RETURN_FALSE(in.dim() == count + 1 || in.dim() == count + 2,
                           "the input has %d dimensions, expected %d or %d", int(in.dim()), int(count + 1),
                           int(count + 2));
  ET_CHECK_OR_RETURN_FALSE(output_size.size() == static_cast<size_t>(count), "expected %d sizes, got %zu", int(count),
                           output_size.size());
  std::fill_n(in_size, 3, 1);
  std::fill_n(out_size, 3, 1);
  for (int64_t d = 0; d < count; ++d) {
    in_size[3 - count + d] = in.sizes()[in.dim() - count + d];
    out_size[3 - count + d] = output_size[d];
    ET_CHECK_OR_RETURN_FALSE(in.sizes()[in.dim() - count + d] > 0, "expected non-empty images");
  }
  return true;
}

bool AdaptivePooling::resize(Tensor& out, const Tensor& in, int64_t count) const {
  int64_t sizes[kTensorDimensionLimit];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  std::copy_n(out_size + 3 - count, count, sizes + in.dim() - count);
  return resize_to_size(out, {sizes, static_cast<size_t>(in.dim())});
}

int64_t AdaptivePooling::work() const {
  int64_t positions = 1;
  for (int64_t d = 0; d < 3; ++d) {
    positions *= in_size[d] / std::max<int64_t>(1, out_size[d]) + 1;
  }
  return positions;
}

}  // namespace rules_executorch::kernels
