#pragma once

#include <cstdint>

#include "kernels/convolution/image_geometry.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels::packed {

/// The sizes of a convolution of images or volumes with packed weights and a channels-last result. Strides are in
/// elements.
struct Geometry : ImageAxes {
  ScalarType type;
  int64_t batch;
  int64_t in_channels;
  int64_t channels;  // of the input, padded to pairs
  int64_t out_channels;
  int64_t groups;
  int64_t in_batch_stride;
  int64_t in_channel_stride;
  int64_t in_slice_stride;
  int64_t in_row_stride;
  int64_t in_pixel_stride;
  bool is_depthwise;  // one input channel for each output channel: weights have a row for each kernel position
  bool is_transposed;
  int64_t positions;       // of the packed kernel
  int64_t first_position;  // the first of the positions that are multiplied
  int64_t out_first;       // the first result
  int64_t out_slice_stride;
  int64_t out_row_stride;
  int64_t out_pixel_stride;

  int64_t kernel_positions() const { return z.kernel_size * y.kernel_size * x.kernel_size; }
  /// The slices of the result, numbered across the batch. Images are slices.
  int64_t out_slices() const { return batch * z.out_size; }
  int64_t slice_pixels() const { return y.out_size * x.out_size; }
  int64_t out_pixels() const { return out_slices() * slice_pixels(); }
  /// Whether the inputs of a pixel are contiguous.
  bool is_channels_last() const {
    return in_channel_stride == 1 && in_pixel_stride == channels && in_channels == channels;
  }

  /// The first channel of the result of a pixel, numbered across the batch.
  int64_t out_at(int64_t pixel) const {
    const int64_t row = pixel / x.out_size;
    return out_first + row / y.out_size * out_slice_stride + row % y.out_size * out_row_stride +
           pixel % x.out_size * out_pixel_stride;
  }
};

/// The number of ordinary convolutions that compute a transposed convolution: one for each output of a stride. Each
/// reads a part of the kernel positions, and its results are strides apart.
inline int64_t phase_count(const Geometry& geometry) {
  return geometry.is_transposed ? geometry.y.stride * geometry.x.stride : 1;
}

/// A phase of a transposed convolution, as an ordinary convolution; an ordinary convolution itself.
Geometry phase_of(const Geometry& geometry, int64_t phase);

/// The same convolution in fewer dimensions: volumes whose slices are convolved alone are images, and slices whose
/// pixels are convolved alone are rows.
Geometry merged(const Geometry& geometry);

/// Reads the sizes from the arguments of the operator. Returns false if the arguments are invalid or if the weights are
/// packed for another convolution.
bool read_geometry(const Tensor& in, const Tensor& weight, const ImageArguments& arguments, int64_t out_channels,
                   int64_t groups, Geometry& geometry);

}  // namespace rules_executorch::kernels::packed
