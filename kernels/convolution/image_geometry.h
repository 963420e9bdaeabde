#pragma once

#include <cstdint>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// One of the two spatial dimensions of a convolution of images.
struct ImageAxis {
  int64_t in_size;
  int64_t kernel_size;
  int64_t out_size;
  int64_t stride;
  int64_t dilation;
  int64_t padding;
  int64_t end_padding;

  int64_t first_input(int64_t out) const { return out * stride - padding; }
  /// The number of inputs from the first to the last one that outputs `first` to `last` (inclusive) need.
  int64_t inputs(int64_t first, int64_t last) const {
    return (last - first) * stride + (kernel_size - 1) * dilation + 1;
  }
  /// Whether each output only depends on the input at the same index.
  bool is_pointwise() const { return kernel_size == 1 && stride == 1 && padding == 0 && end_padding == 0; }
};

/// The arguments of an operator for the two spatial dimensions.
struct ImageArguments {
  ArrayRef<int64_t> kernel_size;
  ArrayRef<int64_t> stride;
  ArrayRef<int64_t> padding;
  ArrayRef<int64_t> end_padding;
  ArrayRef<int64_t> dilation;
  /// Input and output are exchanged. Paddings are removed from the output; a negative one at the end adds outputs.
  bool transposed = false;
};

/// Reads the spatial dimensions of `in`, a batch of images. Products of these sizes do not overflow. Returns false if
/// the arguments are invalid.
bool read_image_axes(const Tensor& in, const ImageArguments& arguments, ImageAxis& y, ImageAxis& x);

}  // namespace rules_executorch::kernels
