#pragma once

#include "kernels/convolution/convolution_tile.h"
#include "kernels/convolution/geometry.h"
#include "kernels/gemm/matmul.h"

namespace rules_executorch::kernels {

/// Computes the convolution, which is not transposed, as matrix products, one for each batch element and group: of the
/// weights, and of the inputs that outputs meet. These are read a block at a time, so that there is no copy of all.
void convolve_by_products(const ConvolutionLoops& loops, const Convolution& convolution, ProductScratch& scratch);

/// The same for the gradient of the weights of the convolution, from a gradient of its result, `grad_out`.
void compute_weight_gradient_by_products(const ConvolutionLoops& loops, const Convolution& convolution,
                                         const char* grad_out, char* grad_weight, ProductScratch& scratch);

}  // namespace rules_executorch::kernels
