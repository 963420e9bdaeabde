#pragma once

#include "kernels/convolution/convolution_tile.h"
#include "kernels/convolution/geometry.h"
#include "kernels/gemm/matmul.h"

namespace rules_executorch::kernels {

namespace internal {

void convolve(const ConvolutionLoops& loops, const Convolution& convolution, ProductScratch& scratch);

void compute_weight_gradient(const ConvolutionLoops& loops, const Convolution& convolution, const char* grad_out,
                             char* grad_weight, ProductScratch& scratch);

}  // namespace internal

/// Computes the convolution in ProductType<T>.
template <typename T>
void convolve(const Convolution& convolution, ProductScratch& scratch) {
  internal::convolve(convolution_loops<ProductType<T>>(), convolution, scratch);
}

/// Computes the gradient of the weights of `convolution` from its input and from `grad_out`, the gradient of its
/// result. The convolution must not be transposed.
template <typename T>
void compute_weight_gradient(const Convolution& convolution, const char* grad_out, char* grad_weight,
                             ProductScratch& scratch) {
  internal::compute_weight_gradient(convolution_loops<ProductType<T>>(), convolution, grad_out, grad_weight, scratch);
}

}  // namespace rules_executorch::kernels
