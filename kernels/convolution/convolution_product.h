#pragma once

#include "kernels/convolution/convolution_tile.h"
#include "kernels/convolution/geometry.h"
#include "kernels/gemm/matmul.h"

namespace rules_executorch::kernels {

/// Computes the convolution as matrix products, one for each batch element and group: the weights times the im2col
/// matrix of the input. Reads the im2col matrix one block at a time, so that there is no copy of the whole matrix. The
/// convolution must not be transposed.
void convolve_by_products(const ConvolutionLoops& loops, const Convolution& convolution, ProductScratch& scratch);

/// The same for the gradient of the weights, from `grad_out`, the gradient of the result.
void compute_weight_gradient_by_products(const ConvolutionLoops& loops, const Convolution& convolution,
                                         const char* grad_out, char* grad_weight, ProductScratch& scratch);

}  // namespace rules_executorch::kernels
