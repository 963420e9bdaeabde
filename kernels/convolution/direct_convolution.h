#pragma once

#include "kernels/convolution/convolution_tile.h"
#include "kernels/convolution/geometry.h"
#include "kernels/gemm/matmul.h"

namespace rules_executorch::kernels {

/// Computes the convolution, which is not transposed, from copies of parts of its input, in which neighbors of an
/// output's inputs are the inputs of its neighbors: one copy for each remainder of positions by the strides, with zeros
/// around, so that sums for many outputs at a time read the copies where they lie. False, with nothing computed, where
/// that does not pay, or where there is no memory.
bool convolve_directly(const ConvolutionLoops& loops, const Convolution& convolution, ProductScratch& scratch);

/// The same for the gradient of the weights of the convolution, from a gradient of its result, `grad_out`.
bool compute_weight_gradient_directly(const ConvolutionLoops& loops, const Convolution& convolution,
                                      const char* grad_out, char* grad_weight, ProductScratch& scratch);

}  // namespace rules_executorch::kernels
