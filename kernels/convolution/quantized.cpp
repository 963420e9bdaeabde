#include "kernels/convolution/quantized.h"

#include "kernels/math/divide_up.h"

namespace rules_executorch::kernels {

int64_t QuantizedConvolution::weight_groups() const {
  return is_depthwise() ? x.kernel_size * divide_up(y.kernel_size, kPanelDepth)
                        : divide_up(in_channels * taps(), kPanelDepth);
}

int64_t QuantizedConvolution::weight_panels() const {
  return is_depthwise() ? divide_up(groups, kPanelColumns) : groups * divide_up(out_channels, kPanelColumns);
}

bool QuantizedConvolution::init(const Tensor& input, int64_t channels, ArrayRef<int64_t> kernel_size,
                                ArrayRef<int64_t> stride, ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                int64_t group_count) {
  ET_CHECK_OR_RETURN_FALSE(padding.size() == 4, "expected a padding of 4 numbers, two for each spatial dimension");
  ET_CHECK_OR_RETURN_FALSE(group_count >= 1, "the number of groups is out of range: got %lld, expected at least 1",
                           static_cast<long long>(group_count));
  ET_LOG_AND_RETURN_IF_FALSE(
      read_image_axes(input, {kernel_size, stride, padding.slice(0, 2), padding.slice(2, 2), dilation}, y, x));
  ET_CHECK_OR_RETURN_FALSE(y.in_size > 0 && x.in_size > 0, "expected input sizes of at least 1, got 0");
  batch = input.size(0);
  groups = group_count;
  in_channels = input.size(1) / groups;
  out_channels = channels / groups;
  ET_CHECK_OR_RETURN_FALSE(in_channels >= 1 && out_channels >= 1 && input.size(1) == in_channels * groups &&
                               channels == out_channels * groups,
                           "%d groups do not divide the channels", int(groups));
  return true;
}

}  // namespace rules_executorch::kernels
