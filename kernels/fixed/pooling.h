#pragma once

#include <cstdint>

#include "kernels/fixed/images.h"

namespace rules_executorch::kernels::fixed {

/// The largest element of each window. NaN is the largest of all.
void max_pool(const float* in, float* out, const Window& window, int32_t channels);

/// The mean of each window. `divisor` replaces the number of elements if it is not 0. Padding counts if
/// `count_include_pad`, as far as it is within `padding` after the image.
void avg_pool(const float* in, float* out, const Window& window, int32_t channels, bool count_include_pad,
              int32_t divisor);

}  // namespace rules_executorch::kernels::fixed
