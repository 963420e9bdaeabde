#include "kernels/convolution/input_copies.h"

#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"

namespace rules_executorch::kernels {
namespace {

/// Clears several elements, usually very few.
inline void clear_bytes(char* to, int64_t n) {
  if (n > 64) {
    std::memset(to, 0, n);
    return;
  }
  for (int64_t i = 0; i < n; i += sizeof(float)) {
    std::memset(to + i, 0, sizeof(float));
  }
}

}  // namespace

/// Computes the offset of each kernel position in the copies, relative to the first output's position in a channel's
/// first copy.
void InputCopies::find_offsets(int64_t* offsets) const {
  const ConvolutionAxis* axes = c_.axes;
  int64_t k[kMaxSpatialDims];
  for (k[0] = 0; k[0] < axes[0].kernel_size; ++k[0]) {
    for (k[1] = 0; k[1] < axes[1].kernel_size; ++k[1]) {
      for (k[2] = 0; k[2] < axes[2].kernel_size; ++k[2]) {
        int64_t copy = 0;
        int64_t index = 0;
        for (int64_t d = 0; d < kMaxSpatialDims; ++d) {
          copy = copy * axes_[d].copies + k[d] % axes_[d].copies;
          index = (d == 0 ? 0 : index * axes_[d].pitch) + CopiedAxis::shift(axes[d], k[d]);
        }
        *offsets++ = copy * (copy_bytes_ / size_) + index;
      }
    }
  }
}

void InputCopies::copy_input(const char* in, char* copies) const {
  char* copy = copies;
  int64_t k[kMaxSpatialDims];
  for (k[0] = 0; k[0] < axes_[0].copies; ++k[0]) {
    for (k[1] = 0; k[1] < axes_[1].copies; ++k[1]) {
      for (k[2] = 0; k[2] < axes_[2].copies; ++k[2], copy += copy_bytes_) {
        make_copy(in, k, copy);
      }
    }
  }
}

/// Writes the copy of each channel for the remainders of position `k`.
void InputCopies::make_copy(const char* in, const int64_t* k, char* copy) const {
  const ConvolutionAxis* axes = c_.axes;
  const ConvolutionAxis& inner = axes[kMaxSpatialDims - 1];
  const int64_t channel_bytes = copies_per_channel() * copy_bytes_;
  const int64_t counts[] = {axes_[0].count(axes[0], k[0]), axes_[1].count(axes[1], k[1]),
                            axes_[2].count(axes[2], k[2])};
  const int64_t bytes = counts[2] * size_;
  const int64_t row_bytes = axes_[2].pitch * size_;
  const int64_t step = inner.stride * inner.in_stride;
  const bool is_direct = c_.dtype == loops_.product.type && step == size_;
  in += CopiedAxis::first(axes[0], k[0]) * axes[0].in_stride + CopiedAxis::first(axes[1], k[1]) * axes[1].in_stride +
        CopiedAxis::first(inner, k[2]) * inner.in_stride;
  for (int64_t channel = 0; channel < c_.in_channels; ++channel) {
    std::memset(copy + channel * channel_bytes, 0, lead_ * size_);
  }
  copy += lead_ * size_;
  for (int64_t z = 0; z < axes_[0].end; ++z) {
    const int64_t rows = z == axes_[0].end - 1 ? axes_[1].end : axes_[1].pitch;
    for (int64_t y = 0; y < rows; ++y, copy += row_bytes) {
      const bool is_inside = z < counts[0] && y < counts[1];
      const char* from = in + z * axes[0].stride * axes[0].in_stride + y * axes[1].stride * axes[1].in_stride;
      // All channels of a row together, because they may be contiguous in the input.
      char* row = copy;
      for (int64_t channel = 0; channel < c_.in_channels;
           ++channel, from += c_.in_channel_stride, row += channel_bytes) {
        if (!is_inside) {
          clear_bytes(row, row_bytes);
          continue;
        }
        if (is_direct) {
          copy_row(from, bytes, row);
        } else {
          load_row(from, step, counts[2], row);
        }
        clear_bytes(row + bytes, row_bytes - bytes);
      }
    }
  }
}

void InputCopies::load_row(const char* from, int64_t step, int64_t n, char* row) const {
  if (c_.dtype == ScalarType::Float && loops_.product.type == ScalarType::Float && step == 2 * size_) {
    const float* const source = reinterpret_cast<const float*>(from);
    float* const target = reinterpret_cast<float*>(row);
    vectorized_for(n, [=](int64_t i) { target[i] = source[2 * i]; });
    return;
  }
  for (int64_t i = 0; i < n; i += kBlockSize) {
    load_block(c_.dtype, from + i * step, step, loops_.product.type, row + i * size_, std::min(kBlockSize, n - i));
  }
}

}  // namespace rules_executorch::kernels
