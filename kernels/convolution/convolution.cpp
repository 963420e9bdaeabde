#include "kernels/convolution/convolution.h"

#include <algorithm>
#include <numeric>

#include "kernels/convolution/channels_last_convolution.h"
#include "kernels/convolution/convolution_product.h"
#include "kernels/convolution/direct_convolution.h"
#include "kernels/math/divide_up.h"

namespace rules_executorch::kernels {
namespace {

/// Restricts axis `d` of a transposed convolution to every stride-th output from `first` on. In a transposed
/// convolution, input `i` and kernel position `k` contribute to output `i * stride + k * dilation + offset`. The
/// restricted outputs are an ordinary convolution of the inputs with a subset of the kernel positions, which may be
/// empty.
void take_phase(int64_t d, int64_t first, Convolution& convolution) {
  ConvolutionAxis& axis = convolution.axes[d];
  const int64_t step = axis.stride / std::gcd(axis.stride, axis.dilation);
  int64_t first_k = 0;
  while (first_k < std::min(step, axis.kernel_size) &&
         (first - axis.offset - first_k * axis.dilation) % axis.stride != 0) {
    ++first_k;
  }
  const bool meets = first_k < std::min(step, axis.kernel_size);
  convolution.out += first * axis.out_stride;
  convolution.weight += meets ? first_k * axis.weight_stride : 0;
  axis.out_size = divide_up(std::max<int64_t>(axis.out_size - first, 0), axis.stride);
  axis.kernel_size = meets ? divide_up(axis.kernel_size - first_k, step) : 0;
  axis.offset = meets ? (first - axis.offset - first_k * axis.dilation) / axis.stride : 0;
  axis.dilation = -(step * axis.dilation / axis.stride);
  axis.out_stride *= axis.stride;
  axis.weight_stride *= step;
  axis.stride = 1;
}

}  // namespace

void internal::convolve(const ConvolutionLoops& loops, const Convolution& convolution, ProductScratch& scratch) {
  int64_t phases[] = {1, 1, 1};
  for (int64_t d = 0; convolution.transposed && d < kMaxSpatialDims; ++d) {
    phases[d] = std::min(convolution.axes[d].stride, convolution.axes[d].out_size);
  }
  for (int64_t i = 0; i < phases[0] * phases[1] * phases[2]; ++i) {
    Convolution phase = convolution;
    if (convolution.transposed) {
      take_phase(0, i / phases[2] / phases[1], phase);
      take_phase(1, i / phases[2] % phases[1], phase);
      take_phase(2, i % phases[2], phase);
    }
    if (convolve_channels_last(loops, phase, scratch) || convolve_directly(loops, phase, scratch)) {
      continue;
    }
    convolve_by_products(loops, phase, scratch);
  }
}

void internal::compute_weight_gradient(const ConvolutionLoops& loops, const Convolution& convolution,
                                       const char* grad_out, char* grad_weight, ProductScratch& scratch) {
  if (!compute_weight_gradient_directly(loops, convolution, grad_out, grad_weight, scratch)) {
    compute_weight_gradient_by_products(loops, convolution, grad_out, grad_weight, scratch);
  }
}

}  // namespace rules_executorch::kernels
