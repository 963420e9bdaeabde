#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/convolution/packed/float_tile.h"
#include "kernels/convolution/packed/plan.h"
#include "kernels/copy/transposition.h"
#include "kernels/gemm/loaded_elements.h"
#include "kernels/gemm/reduced_rows.h"
#include "kernels/math/vectorize.h"

namespace rules_executorch::kernels::packed {

/// The indirection buffer of a convolution: pointers to the inputs, instead of an im2col copy. Source: Dukhan, "The
/// Indirect Convolution Algorithm" (2019). The pointers are pointers to words. load_float loads pairs of 16-bit
/// elements from them.
template <typename E>
class Indirection {
 public:
  Indirection(const Plan& plan, const E* in) : plan_(plan), geometry_(plan.geometry), in_(in) {}

  /// Fills the indirection buffer of a block: for each tap, pointers to the inputs of all pixels.
  void fill_indirection(const Block& block, const Scratch& scratch) const {
    if (plan_.is_copied()) {
      fill_from_copy(block, scratch.pixels, scratch.copied);
    } else {
      fill_in_place(block, scratch.pixels, scratch.zeros);
    }
    for (int64_t tap = 0; tap < plan_.taps; ++tap) {
      // Tiles with fewer pixels compute the last pixel again.
      const float** const all = scratch.pixels + tap * plan_.tap_stride + block.count;
      std::fill_n(all, kTilePixels, all[-1]);
    }
  }

 private:
  static constexpr bool kIsFloat = std::is_same_v<E, float>;

  /// The position of a pixel, or of an input. The slices are those of all volumes.
  struct Position {
    int64_t slice;
    int64_t y;
    int64_t x;
  };

  Position position_of(int64_t pixel) const {
    const int64_t row = pixel / geometry_.x.out_size;
    return {row / geometry_.y.out_size, row % geometry_.y.out_size, pixel % geometry_.x.out_size};
  }

  /// The input slice of a slice of the result at a position of the kernel; null outside of the volume.
  const E* slice_at(int64_t out_slice, int64_t kernel_z) const {
    const int64_t z = geometry_.z.first_input(out_slice % geometry_.z.out_size) + kernel_z * geometry_.z.dilation;
    return z < 0 || z >= geometry_.z.in_size
               ? nullptr
               : in_ + out_slice / geometry_.z.out_size * geometry_.in_batch_stride + z * geometry_.in_slice_stride;
  }

  /// Copies the inputs of a block with zero padding, and fills the buffer with pointers into the copy.
  void fill_from_copy(const Block& block, const float** pixels, float* copied) const {
    const Position first = position_of(block.first);
    const int64_t rows = (first.x + block.count + geometry_.x.out_size - 1) / geometry_.x.out_size;
    const int64_t columns = std::min(block.count, geometry_.x.out_size);
    const int64_t in_rows = geometry_.y.inputs(0, rows - 1);
    const int64_t in_columns = geometry_.x.inputs(0, columns - 1);
    const int64_t row_size = in_columns * plan_.channels;
    const int64_t from_x = geometry_.x.first_input(first.x);
    for (int64_t kernel_z = 0; kernel_z < geometry_.z.kernel_size; ++kernel_z) {
      const E* const slice = slice_at(first.slice, kernel_z);
      for (int64_t row = 0; row < in_rows; ++row) {
        const int64_t y = geometry_.y.first_input(first.y) + row;
        const bool is_inside = slice != nullptr && y >= 0 && y < geometry_.y.in_size;
        copy_row(is_inside ? slice + y * geometry_.in_row_stride : nullptr, from_x, in_columns,
                 copied + (kernel_z * in_rows + row) * row_size);
      }
    }
    for (int64_t tap = 0; tap < plan_.taps; ++tap) {
      const int64_t kernel_row = plan_.is_merged ? tap : tap / geometry_.x.kernel_size;
      const int64_t kernel_x = plan_.is_merged ? 0 : tap % geometry_.x.kernel_size;
      const int64_t kernel_z = kernel_row / geometry_.y.kernel_size;
      const int64_t in_row = kernel_z * in_rows + kernel_row % geometry_.y.kernel_size * geometry_.y.dilation;
      const float* const start = copied + in_row * row_size + kernel_x * geometry_.x.dilation * plan_.channels;
      for (int64_t i = 0, row = 0; i < block.count; i += columns, ++row) {
        note(pixels + tap * plan_.tap_stride + i, std::min(columns, block.count - i),
             start + row * geometry_.y.stride * row_size, geometry_.x.stride * plan_.channels);
      }
    }
  }

  /// Copies `count` pixels of a row of the input from x = `from` on. Pixels outside of the row, and all pixels if there
  /// is no row, are 0.
  void copy_row(const E* row, int64_t from, int64_t count, float* to) const {
    // The pixels `begin` to `end` (exclusive) are inside the row.
    const int64_t begin = row != nullptr ? std::clamp<int64_t>(-from, 0, count) : count;
    const int64_t end = std::clamp<int64_t>(geometry_.x.in_size - from, begin, count);
    std::fill_n(to, begin * plan_.channels, 0.0f);
    std::fill_n(to + end * plan_.channels, (count - end) * plan_.channels, 0.0f);
    if (begin == end) {
      return;
    }
    float* const target = to + begin * plan_.channels;
    if (geometry_.in_channels != geometry_.channels) {
      std::fill_n(target, (end - begin) * plan_.channels, 0.0f);
    }
    const E* const source = row + (from + begin) * geometry_.in_pixel_stride;
    if (plan_.converts()) {
      convert_pixels(source, target, end - begin);
    } else {
      copy_pixels(source, target, end - begin);
    }
  }

  void copy_pixels(const E* from, float* to, int64_t count) const {
    if constexpr (kIsFloat) {
      if (geometry_.in_pixel_stride == 1) {
        const Transposition matrix{sizeof(float), geometry_.in_channel_stride * int64_t{sizeof(float)},
                                   plan_.channels * int64_t{sizeof(float)}};
        copy_transposition(matrix, reinterpret_cast<const char*>(from), reinterpret_cast<char*>(to), count,
                           geometry_.in_channels);
        return;
      }
    }
    const int64_t step = geometry_.channels * int64_t{sizeof(E)};
    for (int64_t c = 0; c < geometry_.in_channels; ++c) {
      const E* const elements = from + c * geometry_.in_channel_stride;
      char* const target = reinterpret_cast<char*>(to) + c * int64_t{sizeof(E)};
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(target + i * step, elements + i * geometry_.in_pixel_stride, sizeof(E));
      }
    }
  }

  /// Converts pixels to floats.
  void convert_pixels([[maybe_unused]] const E* from, [[maybe_unused]] float* to,
                      [[maybe_unused]] int64_t count) const {
    if constexpr (!kIsFloat) {
      if (geometry_.is_channels_last()) {
        load_row(from, to, count * plan_.channels);
        return;
      }
      constexpr int64_t kSome = 64;
      float some[kSome];
      for (int64_t i = 0; i < count; i += kSome) {
        const int64_t n = std::min(kSome, count - i);
        for (int64_t c = 0; c < geometry_.in_channels; ++c) {
          const E* const elements = from + i * geometry_.in_pixel_stride + c * geometry_.in_channel_stride;
          if (geometry_.in_pixel_stride == 1) {
            load_row(elements, some, n);
          } else {
            for (int64_t j = 0; j < n; ++j) {
              some[j] = load_element(elements + j * geometry_.in_pixel_stride);
            }
          }
          for (int64_t j = 0; j < n; ++j) {
            to[(i + j) * plan_.channels + c] = some[j];
          }
        }
      }
    }
  }

  /// Writes `count` pointers to words, from elements that are `step` apart.
  template <typename Element>
  static void note(const float** pixels, int64_t count, const Element* first, int64_t step) {
    vectorized_for(count, [=](int64_t i) { pixels[i] = reinterpret_cast<const float*>(first + i * step); });
  }

  /// Fills the buffer with pointers to pixels of the input, or to zeros outside of the input.
  void fill_in_place(const Block& block, const float** pixels, const float* zeros) const {
    for (int64_t i = 0; i < block.count;) {
      const Position first = position_of(block.first + i);
      const int64_t count = std::min(block.count - i, geometry_.x.out_size - first.x);
      const float** tap = pixels + i;
      for (int64_t kernel_z = 0; kernel_z < geometry_.z.kernel_size; ++kernel_z) {
        const E* const slice = slice_at(first.slice, kernel_z);
        for (int64_t kernel_y = 0; kernel_y < geometry_.y.kernel_size; ++kernel_y) {
          const int64_t y = geometry_.y.first_input(first.y) + kernel_y * geometry_.y.dilation;
          const bool is_inside = slice != nullptr && y >= 0 && y < geometry_.y.in_size;
          const E* const row = is_inside ? slice + y * geometry_.in_row_stride : nullptr;
          for (int64_t kernel_x = 0; kernel_x < geometry_.x.kernel_size; ++kernel_x, tap += plan_.tap_stride) {
            fill_row(row, geometry_.x.first_input(first.x) + kernel_x * geometry_.x.dilation, count, tap, zeros);
          }
        }
      }
      i += count;
    }
  }

  /// Writes pointers to the inputs of `count` pixels at a tap. `first_x` is the input of the first one in a row of
  /// the input. Without a row, all inputs are 0.
  void fill_row(const E* row, int64_t first_x, int64_t count, const float** pixels, const float* zeros) const {
    if (row == nullptr) {
      std::fill_n(pixels, count, zeros);
      return;
    }
    const int64_t stride = geometry_.x.stride;
    // The pixels `from` to `to` (exclusive) are inside the row.
    const int64_t from = first_x < 0 ? std::min((-first_x + stride - 1) / stride, count) : 0;
    const int64_t left = geometry_.x.in_size - first_x;
    const int64_t to = std::clamp(left > 0 ? (left + stride - 1) / stride : 0, from, count);
    std::fill(pixels, pixels + from, zeros);
    note(pixels + from, to - from, row + (first_x + from * stride) * geometry_.in_pixel_stride,
         stride * geometry_.in_pixel_stride);
    std::fill(pixels + to, pixels + count, zeros);
  }

  const Plan& plan_;
  const Geometry& geometry_;
  const E* in_;
};

}  // namespace rules_executorch::kernels::packed
