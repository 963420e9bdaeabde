#pragma once

#include <cstdint>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// A spatial dimension of a convolution. The defaults are those of a dimension that an image does not have.
struct ImageAxis {
  int64_t in_size = 1;
  int64_t kernel_size = 1;
  int64_t out_size = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t padding = 0;
  int64_t end_padding = 0;

  int64_t first_input(int64_t out) const { return out * stride - padding; }
  /// The number of inputs from the first to the last one that outputs `first` to `last` (inclusive) need.
  int64_t inputs(int64_t first, int64_t last) const {
    return (last - first) * stride + (kernel_size - 1) * dilation + 1;
  }
  /// Whether each output only depends on the input at the same index.
  bool is_pointwise() const { return kernel_size == 1 && stride == 1 && padding == 0 && end_padding == 0; }
};

/// The arguments of an operator, one for each spatial dimension.
struct ImageArguments {
  ArrayRef<int64_t> kernel_size;
  ArrayRef<int64_t> stride;
  ArrayRef<int64_t> padding;
  ArrayRef<int64_t> end_padding;
  ArrayRef<int64_t> dilation;
  /// Input and output are exchanged. Paddings are removed from the output; a negative one at the end adds outputs.
  bool transposed = false;
};

/// The spatial dimensions of images, or of volumes: slices, rows and columns.
struct ImageAxes {
  ImageAxis z;
  ImageAxis y;
  ImageAxis x;
};

/// Reads the spatial dimensions of `in`, a batch of images or volumes. Products of these sizes do not overflow. Returns
/// false if the arguments are invalid.
bool read_axes(const Tensor& in, const ImageArguments& arguments, ImageAxes& axes);

/// The same for images only.
bool read_image_axes(const Tensor& in, const ImageArguments& arguments, ImageAxis& y, ImageAxis& x);

}  // namespace rules_executorch::kernels
