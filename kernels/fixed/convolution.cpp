#include "kernels/fixed/convolution.h"

#include <algorithm>

#include "kernels/fixed/panel.h"

namespace rules_executorch::kernels::fixed {

void convolution(const float* in, const float* weight, const float* bias, float* out, const Window& window,
                 const Channels& channels, Clamp clamp) {
  const int32_t taps = window.taps();
  window.for_each_pixel([&](const Window::Place& place, int32_t pixel) {
    const float* row = weight;
    for (int32_t n = 0; n < channels.groups * channels.outputs; ++n, row += channels.inputs * taps) {
      float sum = bias != nullptr ? bias[n] : 0;
      const int32_t first = n / channels.outputs * channels.inputs * window.in.channel_stride;
      place.for_each_tap([&](int32_t tap, int32_t offset) {
        if (offset < 0) {
          return;
        }
        const float* x = in + first + offset;
        for (int32_t k = 0; k < channels.inputs; ++k, x += window.in.channel_stride) {
          sum += *x * row[k * taps + tap];
        }
      });
      out[pixel + n * window.out.channel_stride] = clamp(sum);
    }
  });
}

void packed_convolution(const float* in, const float* weight, const float* bias, const float* addend, float* out,
                        const Window& window, const Channels& channels, Clamp clamp) {
  const int32_t tap_size = channels.inputs * kFloatPanelColumns;
  const int32_t channel_stride = window.in.channel_stride;
  // Whether the inputs of all taps of a row follow each other.
  const bool has_runs = window.x.dilation == 1 && window.in.pixel_stride == channels.inputs * channel_stride;
  window.for_each_pixel([&](const Window::Place& place, int32_t pixel) {
    const float* panel = weight;
    for (int32_t group = 0; group < channels.groups; ++group) {
      const float* const group_in = in + group * channels.inputs * channel_stride;
      for (int32_t n = 0; n < channels.outputs; n += kFloatPanelColumns, panel += window.taps() * tap_size) {
        const int32_t column = group * channels.outputs + n;
        const int32_t columns = std::min<int32_t>(channels.outputs - n, kFloatPanelColumns);
        PanelSums sums;
        sums.start(bias != nullptr ? bias + column : nullptr, columns);
        const auto add = [&](int32_t tap, int32_t offset, int32_t taps) {
          if (offset >= 0) {
            sums.add(group_in + offset, channel_stride, panel + tap * tap_size, taps * channels.inputs);
          }
        };
        if (has_runs) {
          place.for_each_run(add);
        } else {
          place.for_each_tap([&](int32_t tap, int32_t offset) { add(tap, offset, 1); });
        }
        sums.store(out + pixel + column, addend != nullptr ? addend + pixel + column : nullptr, columns, clamp);
      }
    }
  });
}

void packed_depthwise_convolution(const float* in, const float* weight, const float* bias, const float* addend,
                                  float* out, const Window& window, int32_t channels, Clamp clamp) {
  window.for_each_pixel([&](const Window::Place& place, int32_t pixel) {
    for (int32_t channel = 0; channel < channels; ++channel) {
      float sum = bias != nullptr ? bias[channel] : 0;
      place.for_each_tap([&](int32_t tap, int32_t offset) {
        if (offset >= 0) {
          sum += in[offset + channel * window.in.channel_stride] * weight[tap * channels + channel];
        }
      });
      out[pixel + channel] = clamp(addend != nullptr ? sum + addend[pixel + channel] : sum);
    }
  });
}

}  // namespace rules_executorch::kernels::fixed
