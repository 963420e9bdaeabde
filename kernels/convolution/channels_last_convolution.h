#pragma once

#include "kernels/convolution/convolution_tile.h"
#include "kernels/convolution/geometry.h"
#include "kernels/gemm/matmul.h"

namespace rules_executorch::kernels {

/// Computes a depthwise convolution of channels-last images: reads and sums all channels of a pixel together. The
/// convolution must not be transposed. Returns false and computes nothing if the convolution has another form or if
/// there is no memory.
bool convolve_channels_last(const ConvolutionLoops& loops, const Convolution& convolution, ProductScratch& scratch);

}  // namespace rules_executorch::kernels
