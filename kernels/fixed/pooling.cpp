#include "kernels/fixed/pooling.h"

#include <algorithm>
#include <limits>

namespace rules_executorch::kernels::fixed {

namespace {

/// The number of elements of a window in an image with its padding, along one axis.
int32_t padded_count(const WindowAxis& axis, int32_t first, int32_t in_size) {
  return std::min(first + axis.size, in_size + axis.padding) - first;
}

}  // namespace

void max_pool(const float* in, float* out, const Window& window, int32_t channels) {
  window.for_each_pixel([&](const Window::Place& place, int32_t pixel) {
    for (int32_t channel = 0; channel < channels; ++channel) {
      float largest = -std::numeric_limits<float>::infinity();
      place.for_each_tap([&](int32_t /*tap*/, int32_t offset) {
        if (offset >= 0) {
          const float x = in[offset + channel * window.in.channel_stride];
          largest = x > largest || x != x ? x : largest;
        }
      });
      out[pixel + channel * window.out.channel_stride] = largest;
    }
  });
}

void avg_pool(const float* in, float* out, const Window& window, int32_t channels, bool count_include_pad,
              int32_t divisor) {
  window.for_each_pixel([&](const Window::Place& place, int32_t pixel) {
    for (int32_t channel = 0; channel < channels; ++channel) {
      float sum = 0;
      int32_t count = 0;
      place.for_each_tap([&](int32_t /*tap*/, int32_t offset) {
        if (offset >= 0) {
          sum += in[offset + channel * window.in.channel_stride];
          ++count;
        }
      });
      if (count_include_pad) {
        count =
            padded_count(window.y, place.row, window.in.height) * padded_count(window.x, place.column, window.in.width);
      }
      out[pixel + channel * window.out.channel_stride] = sum / static_cast<float>(divisor != 0 ? divisor : count);
    }
  });
}

}  // namespace rules_executorch::kernels::fixed
