#pragma once

#include <cstdint>

#include "kernels/fixed/convolution.h"
#include "kernels/fixed/images.h"
#include "kernels/fixed/linear.h"

namespace rules_executorch::kernels::fixed {

/// The bytes that a layer reads.
struct QuantizedInput {
  const uint8_t* bytes;
  /// 0x80 for int8, whose elements become unsigned with an offset of 128; 0 for uint8.
  uint8_t bits;
};

/// What becomes of sums of products: sum * scale[n] + offset[n]. A byte is rounded to the nearest integer from
/// `minimum` to `maximum`, and then looked up in `table` if there is a table.
struct QuantizedOutput {
  void* elements;
  bool is_float;
  const float* scale;
  const float* offset;
  float minimum;
  float maximum;
  /// 256 results by the bits of the rounded sum, or null.
  const uint8_t* table;

  /// Writes the element at `index`, of the output feature or channel `n`.
  void store(int32_t index, int32_t sum, int32_t n) const;
};

/// A linear layer of bytes, with weights in byte panels (kernels/gemm/layouts.yaml).
void quantized_linear(const QuantizedInput& in, const int8_t* weight, const QuantizedOutput& out,
                      const LinearSizes& sizes);

/// A convolution of channels-last bytes. Taps outside of the image are `zero_point`.
void quantized_convolution(const QuantizedInput& in, const int8_t* weight, const QuantizedOutput& out,
                           const Window& window, const Channels& channels, uint8_t zero_point);

/// A convolution of channels-last bytes with one input for each output.
void quantized_depthwise_convolution(const QuantizedInput& in, const int8_t* weight, const QuantizedOutput& out,
                                     const Window& window, int32_t channels, uint8_t zero_point);

}  // namespace rules_executorch::kernels::fixed
