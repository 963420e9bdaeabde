#pragma once

#include <cstdint>

#include "kernels/convolution/image_geometry.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels::packed {

/// The sizes of a convolution of images with packed weights and a channels-last result. Strides are in elements.
struct Geometry {
  ScalarType type;
  int64_t batch;
  int64_t in_channels;
  int64_t channels;  // of the input, padded to pairs
  int64_t out_channels;
  int64_t groups;
  ImageAxis y;
  ImageAxis x;
  int64_t in_batch_stride;
  int64_t in_channel_stride;
  int64_t in_row_stride;
  int64_t in_pixel_stride;
  bool is_depthwise;  // one input channel for each output channel: weights have a row for each kernel position
};

/// Reads the sizes from the arguments of the operator. Returns false if the arguments are invalid or if the weights are
/// packed for another convolution.
bool read_geometry(const Tensor& in, const Tensor& weight, const ImageArguments& arguments, int64_t out_channels,
                   int64_t groups, Geometry& geometry);

}  // namespace rules_executorch::kernels::packed
