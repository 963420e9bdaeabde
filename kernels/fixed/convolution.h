#pragma once

#include <cstdint>

#include "kernels/fixed/clamp.h"
#include "kernels/fixed/images.h"

namespace rules_executorch::kernels::fixed {

/// The channels of a convolution.
struct Channels {
  int32_t groups;
  int32_t inputs;   // of a group
  int32_t outputs;  // of a group
};

/// A convolution with weights (outputs, inputs of a group, rows, columns). `bias` may be null.
void convolution(const float* in, const float* weight, const float* bias, float* out, const Window& window,
                 const Channels& channels, Clamp clamp);

/// A convolution with its weights in float panels, and a channels-last result. `bias` and `addend`, a tensor like the
/// result, may be null.
void packed_convolution(const float* in, const float* weight, const float* bias, const float* addend, float* out,
                        const Window& window, const Channels& channels, Clamp clamp);

/// A convolution with one input for each output, with weights (taps, channels).
void packed_depthwise_convolution(const float* in, const float* weight, const float* bias, const float* addend,
                                  float* out, const Window& window, int32_t channels, Clamp clamp);

}  // namespace rules_executorch::kernels::fixed
