#include "kernels/convolution/channels_last_convolution.h"

#include <algorithm>
#include <cstring>

#include "kernels/parallel/block.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {
namespace {

/// Copies the weights to (kernel positions, channels) in row-major order.
void pack_weights(const Convolution& c, char* target) {
  const ConvolutionAxis* axes = c.axes;
  const int64_t size = static_cast<int64_t>(elementSize(c.dtype));
  for (int64_t z = 0; z < axes[0].kernel_size; ++z) {
    for (int64_t y = 0; y < axes[1].kernel_size; ++y) {
      for (int64_t x = 0; x < axes[2].kernel_size; ++x, target += c.groups * size) {
        copy_elements(c.weight + z * axes[0].weight_stride + y * axes[1].weight_stride + x * axes[2].weight_stride,
                      c.weight_group_stride, target, size, size, c.groups);
      }
    }
  }
}

/// The taps of an output pixel: the inputs and the weights at the kernel positions that are inside the input.
struct Taps {
  const void** in;
  const void** weights;
  int64_t count = 0;

  /// Moves to the next pixel, which has the same kernel positions.
  void advance(int64_t step) {
    for (int64_t k = 0; k < count; ++k) {
      in[k] = static_cast<const char*>(in[k]) + step;
    }
  }

  void find(const Convolution& c, const char* first_in, const char* first_weights, const int64_t* out) {
    const ConvolutionAxis* axes = c.axes;
    const int64_t row = c.groups * static_cast<int64_t>(elementSize(c.dtype));
    const auto index = [&](int64_t d, int64_t k) {
      return out[d] * axes[d].stride + k * axes[d].dilation + axes[d].offset;
    };
    const auto is_inside = [&](int64_t d, int64_t i) { return i >= 0 && i < axes[d].in_size; };
    count = 0;
    for (int64_t k = 0; k < axes[0].kernel_size; ++k) {
      const int64_t z = index(0, k);
      for (int64_t j = 0; j < axes[1].kernel_size; ++j, first_weights += axes[2].kernel_size * row) {
        const int64_t y = index(1, j);
        if (!is_inside(0, z) || !is_inside(1, y)) {
          continue;
        }
        for (int64_t i = 0; i < axes[2].kernel_size; ++i) {
          const int64_t x = index(2, i);
          if (is_inside(2, x)) {
            in[count] = first_in + z * axes[0].in_stride + y * axes[1].in_stride + x * axes[2].in_stride;
            weights[count++] = first_weights + i * row;
          }
        }
      }
    }
  }
};

/// The outputs `first` to `last` (exclusive) of an axis for which all kernel positions are inside the input.
struct Interior {
  int64_t first;
  int64_t last;

  explicit Interior(const ConvolutionAxis& axis) {
    const int64_t ends[] = {axis.offset, axis.offset + (axis.kernel_size - 1) * axis.dilation};
    const int64_t before = -std::min(ends[0], ends[1]);
    const int64_t behind = axis.in_size - std::max(ends[0], ends[1]);
    first = before > 0 ? (before + axis.stride - 1) / axis.stride : 0;
    last = behind > 0 ? (behind + axis.stride - 1) / axis.stride : 0;
  }
};

/// Computes one row of pixels. `row` counts the rows of all batch elements.
void compute_row(const ConvolutionLoops& loops, const Convolution& c, const char* weights, int64_t row, Taps& taps) {
  const ConvolutionAxis* axes = c.axes;
  const int64_t size = static_cast<int64_t>(elementSize(c.dtype));
  int64_t out[] = {row / axes[1].out_size % axes[0].out_size, row % axes[1].out_size, 0};
  const int64_t n = row / axes[1].out_size / axes[0].out_size;
  char* to = c.out + n * c.out_batch_stride + out[0] * axes[0].out_stride + out[1] * axes[1].out_stride;
  const Interior interior(axes[2]);
  for (; out[2] < axes[2].out_size; ++out[2], to += axes[2].out_stride) {
    if (out[2] > interior.first && out[2] < interior.last) {
      taps.advance(axes[2].stride * axes[2].in_stride);
    } else {
      taps.find(c, c.in + n * c.in_batch_stride, weights, out);
    }
    if (c.out_channel_stride == size) {
      loops.sum_pixel({taps.in, taps.weights, taps.count, c.bias, 0, c.groups, to});
      c.activation(to, c.groups);
      continue;
    }
    for (int64_t channel = 0; channel < c.groups; channel += kBlockSize) {
      const int64_t count = std::min(kBlockSize, c.groups - channel);
      Block sums;
      loops.sum_pixel({taps.in, taps.weights, taps.count, c.bias, channel, count, sums.data});
      c.activation(sums.data, count);
      copy_elements(sums.data, size, to + channel * c.out_channel_stride, c.out_channel_stride, size, count);
    }
  }
}

}  // namespace

bool convolve_channels_last(const ConvolutionLoops& loops, const Convolution& c, ProductScratch& scratch) {
  const int64_t size = static_cast<int64_t>(elementSize(c.dtype));
  const bool is_depthwise = c.in_channels == 1 && c.out_channels == 1 && c.groups > 1;
  if (loops.sum_pixel == nullptr || !is_depthwise || c.dtype != loops.product.type || c.in_channel_stride != size) {
    return false;
  }
  const int64_t rows = c.batch * c.axes[0].out_size * c.axes[1].out_size;
  const int64_t cost = std::max<int64_t>(1, c.axes[2].out_size * c.groups * c.kernel_numel());
  const int64_t parts = std::max<int64_t>(1, std::min({rows * cost / (8 * kGrain), rows, thread_count()}));
  const int64_t taps_size = c.kernel_numel() * int64_t{sizeof(const void*)};
  char* const memory = scratch.get(parts * 2 * taps_size + c.kernel_numel() * c.groups * size);
  if (memory == nullptr) {
    return false;
  }
  char* const weights = memory + parts * 2 * taps_size;
  pack_weights(c, weights);
  parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      const void** const in = reinterpret_cast<const void**>(memory + part * 2 * taps_size);
      Taps taps{in, in + c.kernel_numel()};
      for (int64_t row = part * rows / parts; row < (part + 1) * rows / parts; ++row) {
        compute_row(loops, c, weights, row, taps);
      }
    }
  });
  return true;
}

}  // namespace rules_executorch::kernels
