#pragma once

#include <cstdint>

#include "kernels/convolution/image_geometry.h"
#include "kernels/gemm/integer_product.h"
#include "kernels/gemm/matmul.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// A convolution of channels-last images of bytes.
struct QuantizedConvolution {
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
  uint8_t bits;          // as bits_to_byte says of the input
  uint8_t zero_point;    // the input's, as one of its elements: what lies around it

  int64_t all_in_channels() const { return groups * in_channels; }
  int64_t all_out_channels() const { return groups * out_channels; }
  int64_t taps() const { return y.kernel_size * x.kernel_size; }
  bool is_depthwise() const { return in_channels == 1 && out_channels == 1; }

  /// Groups of weights of a channel: of a depthwise convolution, those of some rows of each column of the kernel.
  int64_t weight_groups() const;
  int64_t weight_panels() const;

  /// Reads sizes from the operator's arguments. `padding` has that before the rows and columns, then that behind them.
  /// False where there is no such convolution.
  bool init(const Tensor& input, int64_t channels, ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
            ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation, int64_t group_count);
};

/// Computes a convolution whose channels each depend on one input channel. False where there is no memory.
bool convolve_depthwise(const QuantizedConvolution& convolution, ProductScratch& scratch);

/// Computes any convolution, as products of rows of what the kernel meets. False where there is no memory.
bool convolve_rows(const QuantizedConvolution& convolution, ProductScratch& scratch);

}  // namespace rules_executorch::kernels
