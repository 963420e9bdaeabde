#pragma once

#include <cstdint>

#include "kernels/convolution/image_geometry.h"
#include "kernels/gemm/integer_product.h"
#include "kernels/gemm/matmul.h"
#include "kernels/parallel/grain.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// A convolution of channels-last images of bytes.
struct QuantizedConvolution {
  /// The lowest number of multiplications for a thread.
  static constexpr int64_t kPartProducts = 16 * kGrain;

  ImageAxis y;
  ImageAxis x;
  int64_t batch;
  int64_t groups;
  int64_t in_channels;   // of a group
  int64_t out_channels;  // of a group
  SumConversion conversion;
  const uint8_t* in;
  const char* weight;
  char* out;
  int64_t element_size;  // of the result
  uint8_t bits;          // bits_to_byte() of the input
  uint8_t zero_point;    // of the input, as an element; the value of the padding

  int64_t all_in_channels() const { return groups * in_channels; }
  int64_t all_out_channels() const { return groups * out_channels; }
  int64_t taps() const { return y.kernel_size * x.kernel_size; }
  bool is_depthwise() const { return in_channels == 1 && out_channels == 1; }

  /// The number of weight groups of a channel. In a depthwise convolution, a group has several rows of one column of
  /// the kernel.
  int64_t weight_groups() const;
  int64_t weight_panels() const;

  /// Reads the sizes from the arguments of the operator. `padding` has the padding before the rows and columns, then
  /// the padding after them. Returns false if the arguments are invalid.
  bool init(const Tensor& input, int64_t channels, ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
            ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation, int64_t group_count);
};

/// Computes a depthwise convolution. Returns false if there is no memory.
bool convolve_depthwise(const QuantizedConvolution& convolution, ProductScratch& scratch);

/// Computes a convolution as products of im2col rows and weights. Returns false if there is no memory.
bool convolve_rows(const QuantizedConvolution& convolution, ProductScratch& scratch);

}  // namespace rules_executorch::kernels
