#pragma once

#include "kernels/convolution/convolution_tile.h"
#include "kernels/convolution/geometry.h"
#include "kernels/gemm/matmul.h"

namespace rules_executorch::kernels {

/// Computes the convolution from padded copies of parts of its input. There is one copy for each remainder of input
/// positions modulo the strides. In a copy, the inputs of neighboring outputs are contiguous, so that tiles of many
/// outputs read the copies in place. The convolution must not be transposed. Returns false and computes nothing if the
/// copies do not pay off or if there is no memory.
bool convolve_directly(const ConvolutionLoops& loops, const Convolution& convolution, ProductScratch& scratch);

/// The same for the gradient of the weights, from `grad_out`, the gradient of the result.
bool compute_weight_gradient_directly(const ConvolutionLoops& loops, const Convolution& convolution,
                                      const char* grad_out, char* grad_weight, ProductScratch& scratch);

}  // namespace rules_executorch::kernels
