#include "kernels/images/upsampling.h"

#include <limits>

#include "kernels/tensors/resize.h"

namespace rules_executorch::kernels {

bool Upsampling::init(const Tensor& in, const std::optional<ArrayRef<int64_t>>& output_size,
                      const std::optional<ArrayRef<double>>& scale_factors) {
  ET_CHECK_OR_RETURN_FALSE(in.dim() == 4, "the input has %zd dimensions, expected 4", static_cast<ssize_t>(in.dim()));
  ET_CHECK_OR_RETURN_FALSE(output_size.has_value() != scale_factors.has_value(),
                           "expected exactly one of output_size and scale_factors");
  ET_CHECK_OR_RETURN_FALSE((output_size.has_value() ? output_size->size() : scale_factors->size()) == 2,
                           "expected two sizes or two scale factors");
  ET_CHECK_OR_RETURN_FALSE(in.sizes()[1] > 0, "expected an input with channels");
  for (int64_t d = 0; d < 2; ++d) {
    in_size[d] = in.sizes()[2 + d];
    scale[d] = 0;
    if (output_size.has_value()) {
      out_size[d] = (*output_size)[d];
    } else {
      scale[d] = (*scale_factors)[d];
      const double size = static_cast<double>(in_size[d]) * scale[d];
      ET_CHECK_OR_RETURN_FALSE(size >= 0 && size <= std::numeric_limits<int32_t>::max(),
                               "the upsampled size is out of range");
      out_size[d] = static_cast<int64_t>(size);
    }
    ET_CHECK_OR_RETURN_FALSE(in_size[d] > 0 && out_size[d] > 0, "expected a non-empty input and a non-empty result");
  }
  return true;
}

bool Upsampling::resize(Tensor& out, const Tensor& in) const {
  const int64_t size[] = {in.sizes()[0], in.sizes()[1], out_size[0], out_size[1]};
  return resize_to_size(out, size);
}

}  // namespace rules_executorch::kernels
