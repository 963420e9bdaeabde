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

bool read_axes(const Tensor& in, const ImageArguments& arguments, ImageAxes& axes) {
  ET_CHECK_OR_RETURN_FALSE((in.dim() == 4 || in.dim() == 5) && in.size(1) > 0,
                           "expected an input of 4 or 5 dimensions with channels");
  const size_t count = in.dim() - 2;
  for (const ArrayRef<int64_t>& list :
       {arguments.kernel_size, arguments.stride, arguments.padding, arguments.end_padding, arguments.dilation}) {
    ET_CHECK_OR_RETURN_FALSE(list.size() == count, "expected lists with a number for each spatial dimension");
  }
  axes = {};
  ImageAxis* const all[] = {&axes.z, &axes.y, &axes.x};
  double elements = static_cast<double>(in.size(1));
  for (size_t d = 0; d < count; ++d) {
    ImageAxis& axis = *all[3 - count + d];
    ET_LOG_AND_RETURN_IF_FALSE(read_image_axis(in, arguments, d, axis));
    elements *= static_cast<double>(axis.in_size + axis.padding + axis.end_padding);
  }
  constexpr double kMostElements = double(int64_t{1} << 48);
  ET_CHECK_OR_RETURN_FALSE(elements < kMostElements, "the padded input is too large");
  return true;
}

bool read_image_axes(const Tensor& in, const ImageArguments& arguments, ImageAxis& y, ImageAxis& x) {
  ImageAxes axes;
  ET_CHECK_OR_RETURN_FALSE(in.dim() == 4, "expected an input of 4 dimensions");
  ET_LOG_AND_RETURN_IF_FALSE(read_axes(in, arguments, axes));
  y = axes.y;
  x = axes.x;
  return true;
}

}  // namespace rules_executorch::kernels
