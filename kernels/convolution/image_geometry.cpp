#include "kernels/convolution/image_geometry.h"

#include <limits>

namespace rules_executorch::kernels {
namespace {

bool read_image_axis(const Tensor& in, const ImageArguments& arguments, int64_t d, ImageAxis& axis) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  axis = {in.size(d + 2),       arguments.kernel_size[d], 0, arguments.stride[d], arguments.dilation[d],
          arguments.padding[d], arguments.end_padding[d]};
  for (const int64_t number : {axis.kernel_size, axis.stride, axis.dilation}) {
    ET_CHECK_OR_RETURN_FALSE(number > 0 && number <= kMost,
                             "a kernel size, stride or dilation is out of range: expected at least 1");
  }
  const bool is_transposed = arguments.transposed;
  ET_CHECK_OR_RETURN_FALSE(axis.padding >= 0 && axis.padding <= kMost &&
                               axis.end_padding >= (is_transposed ? -kMost : 0) && axis.end_padding <= kMost,
                           "a padding is out of range: expected at least 0");
  const int64_t span = axis.dilation * (axis.kernel_size - 1);
  const int64_t left = is_transposed ? (axis.in_size - 1) * axis.stride + span - axis.padding - axis.end_padding
                                     : axis.in_size + axis.padding + axis.end_padding - span - 1;
  ET_CHECK_OR_RETURN_FALSE(left >= 0, "the %s",
                           is_transposed ? "padding removes all outputs" : "kernel is larger than the padded input");
  ET_CHECK_OR_RETURN_FALSE(left < kMost, "the padded input is too large");
  axis.out_size = is_transposed ? left + 1 : left / axis.stride + 1;
  return true;
}

}  // namespace

bool read_image_axes(const Tensor& in, const ImageArguments& arguments, ImageAxis& y, ImageAxis& x) {
  ET_CHECK_OR_RETURN_FALSE(in.dim() == 4 && in.size(1) > 0, "expected a 4-dim input with channels");
  for (const ArrayRef<int64_t>& list :
       {arguments.kernel_size, arguments.stride, arguments.padding, arguments.end_padding, arguments.dilation}) {
    ET_CHECK_OR_RETURN_FALSE(list.size() == 2, "expected lists of two numbers, one for each spatial dimension");
  }
  ET_LOG_AND_RETURN_IF_FALSE(read_image_axis(in, arguments, 0, y) && read_image_axis(in, arguments, 1, x));
  constexpr double kMostElements = double(int64_t{1} << 48);
  const auto padded = [](const ImageAxis& axis) { return double(axis.in_size + axis.padding + axis.end_padding); };
  ET_CHECK_OR_RETURN_FALSE(padded(y) * padded(x) * double(in.size(1)) < kMostElements, "the padded input is too large");
  return true;
}

}  // namespace rules_executorch::kernels
