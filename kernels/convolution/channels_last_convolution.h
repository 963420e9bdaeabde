#pragma once

#include "kernels/convolution/convolution_tile.h"
#include "kernels/convolution/geometry.h"
#include "kernels/gemm/matmul.h"

namespace rules_executorch::kernels {

/// Computes the convolution, which is not transposed, if each output channel is made of an input channel of its own,
/// and the channels of a pixel are neighbors, which are then read and summed together. False, with nothing computed,
/// where that is not so, or where there is no memory.
bool convolve_channels_last(const ConvolutionLoops& loops, const Convolution& convolution, ProductScratch& scratch);

}  // namespace rules_executorch::kernels
