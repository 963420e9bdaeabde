#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/convolution/packed/float_rows.h"
#include "kernels/convolution/packed/float_tile.h"
#include "kernels/convolution/packed/plan.h"
#include "kernels/copy/transposition.h"
#include "kernels/gemm/loaded_elements.h"
#include "kernels/math/vectorize.h"

namespace rules_executorch::kernels::packed {

/// The indirection buffer of a convolution: pointers to the inputs, instead of an im2col copy. Source: Dukhan, "The
/// Indirect Convolution Algorithm" (2019). The pointers are pointers to float. load_float loads pairs of 16-bit
/// elements from them.
template <typename E>
class Indirection {
 public:
  Indirection(const Plan& plan, const E* in) : plan_(plan), in_(in) {}

  /// Fills the indirection buffer of a block: for each place, pointers to the inputs of all pixels.
  void fill_indirection(const Block& block, const float** pixels, const float* zeros, float* copied) const {
    if (plan_.is_copied) {
      fill_from_copy(block, pixels, copied);
    } else {
      fill_in_place(block, pixels, zeros);
    }
    for (int64_t place = 0; place < plan_.places; ++place) {
      // Tiles with fewer pixels compute the last pixel again.
      const float** const all = pixels + place * plan_.place_stride + block.count;
      std::fill_n(all, kTilePixels, all[-1]);
    }
  }

 private:
  static constexpr bool kIsFloat = std::is_same_v<E, float>;

  /// Copies the inputs of a block with zero padding, and fills the buffer with pointers into the copy.
  void fill_from_copy(const Block& block, const float** pixels, float* copied) const {
    const int64_t image = plan_.y.out_size * plan_.x.out_size;
    const int64_t n = block.first / image;
    const int64_t first_y = block.first % image / plan_.x.out_size;
    const int64_t first_x = block.first % plan_.x.out_size;
    const int64_t rows = (first_x + block.count + plan_.x.out_size - 1) / plan_.x.out_size;
    const int64_t columns = std::min(block.count, plan_.x.out_size);
    const int64_t in_rows = plan_.y.inputs(0, rows - 1);
    const int64_t in_columns = plan_.x.inputs(0, columns - 1);
    const int64_t row_size = in_columns * plan_.channels;
    const int64_t from_x = plan_.x.first_input(first_x);
    const int64_t inside = std::clamp<int64_t>(-from_x, 0, in_columns);
    const int64_t behind = std::clamp<int64_t>(plan_.x.in_size - from_x, inside, in_columns);
    for (int64_t row = 0; row < in_rows; ++row) {
      float* const target = copied + row * row_size;
      const int64_t in_y = plan_.y.first_input(first_y) + row;
      if (in_y < 0 || in_y >= plan_.y.in_size) {
        std::fill_n(target, row_size, 0.0f);
        continue;
      }
      std::fill_n(target, inside * plan_.channels, 0.0f);
      std::fill_n(target + behind * plan_.channels, (in_columns - behind) * plan_.channels, 0.0f);
      const E* const source =
          in_ + n * plan_.in_batch_stride + in_y * plan_.in_row_stride + (from_x + inside) * plan_.in_pixel_stride;
      if (plan_.in_channels != plan_.channels) {
        std::memset(target + inside * plan_.channels, 0, (behind - inside) * plan_.channels * sizeof(float));
      }
      if (plan_.converts) {
        convert_row(source, target + inside * plan_.channels, behind - inside);
        continue;
      }
      if constexpr (kIsFloat) {
        if (plan_.in_pixel_stride == 1) {
          const Transposition matrix{sizeof(float), plan_.in_channel_stride * int64_t{sizeof(float)},
                                     plan_.channels * int64_t{sizeof(float)}};
          copy_transposition(matrix, reinterpret_cast<const char*>(source),
                             reinterpret_cast<char*>(target + inside * plan_.channels), behind - inside,
                             plan_.in_channels);
          continue;
        }
      }
      const int64_t step = plan_.counts_pairs ? 2 * plan_.channels : plan_.channels;
      for (int64_t c = 0; c < plan_.in_channels; ++c) {
        const E* const from = source + c * plan_.in_channel_stride;
        char* const to = reinterpret_cast<char*>(target + inside * plan_.channels) + c * int64_t{sizeof(E)};
        for (int64_t i = 0; i < behind - inside; ++i) {
          std::memcpy(to + i * step * int64_t{sizeof(E)}, from + i * plan_.in_pixel_stride, sizeof(E));
        }
      }
    }
    for (int64_t place = 0; place < plan_.places; ++place) {
      const int64_t kernel_y = plan_.is_merged ? place : place / plan_.x.kernel_size;
      const int64_t kernel_x = plan_.is_merged ? 0 : place % plan_.x.kernel_size;
      const float* const first =
          copied + kernel_y * plan_.y.dilation * row_size + kernel_x * plan_.x.dilation * plan_.channels;
      for (int64_t i = 0, row = 0; i < block.count; i += columns, ++row) {
        const int64_t count = std::min(columns, block.count - i);
        note(pixels + place * plan_.place_stride + i, count, first + row * plan_.y.stride * row_size,
             plan_.x.stride * plan_.channels);
      }
    }
  }

  /// Converts the pixels of a row to floats.
  void convert_row([[maybe_unused]] const E* from, [[maybe_unused]] float* to, [[maybe_unused]] int64_t count) const {
    if constexpr (!kIsFloat) {
      if (plan_.in_channel_stride == 1 && plan_.in_pixel_stride == plan_.channels &&
          plan_.in_channels == plan_.channels) {
        load_row(from, to, count * plan_.channels);
        return;
      }
      constexpr int64_t kSome = 64;
      float some[kSome];
      for (int64_t i = 0; i < count; i += kSome) {
        const int64_t n = std::min(kSome, count - i);
        for (int64_t c = 0; c < plan_.in_channels; ++c) {
          const E* const elements = from + i * plan_.in_pixel_stride + c * plan_.in_channel_stride;
          if (plan_.in_pixel_stride == 1) {
            load_row(elements, some, n);
          } else {
            for (int64_t j = 0; j < n; ++j) {
              some[j] = load_element(elements + j * plan_.in_pixel_stride);
            }
          }
          for (int64_t j = 0; j < n; ++j) {
            to[(i + j) * plan_.channels + c] = some[j];
          }
        }
      }
    }
  }

  /// Writes `count` pointers that are `step` elements apart.
  static void note(const float** pixels, int64_t count, const float* first, int64_t step) {
    vectorized_for(count, [=](int64_t i) { pixels[i] = first + i * step; });
  }

  /// Fills the buffer with pointers to pixels of the input, or to zeros outside of the input.
  void fill_in_place(const Block& block, const float** pixels, const float* zeros) const {
    int64_t out_x = block.first % plan_.x.out_size;
    int64_t out_y = block.first / plan_.x.out_size % plan_.y.out_size;
    int64_t n = block.first / plan_.x.out_size / plan_.y.out_size;
    for (int64_t i = 0; i < block.count;) {
      const int64_t count = std::min(block.count - i, plan_.x.out_size - out_x);
      const float* const image = reinterpret_cast<const float*>(in_) + n * plan_.in_batch_stride;
      const float** all = pixels + i;
      for (int64_t kernel_y = 0; kernel_y < plan_.y.kernel_size; ++kernel_y) {
        const int64_t in_y = plan_.y.first_input(out_y) + kernel_y * plan_.y.dilation;
        const bool is_inside = in_y >= 0 && in_y < plan_.y.in_size;
        for (int64_t kernel_x = 0; kernel_x < plan_.x.kernel_size; ++kernel_x, all += plan_.place_stride) {
          const int64_t in_x = plan_.x.first_input(out_x) + kernel_x * plan_.x.dilation;
          // The pixels `from` to `to` (exclusive) are inside the input.
          const int64_t from = in_x < 0 ? std::min((-in_x + plan_.x.stride - 1) / plan_.x.stride, count) : 0;
          const int64_t left = plan_.x.in_size - in_x;
          const int64_t to = std::clamp(left > 0 ? (left + plan_.x.stride - 1) / plan_.x.stride : 0, from, count);
          if (is_inside) {
            std::fill(all, all + from, zeros);
            note(all + from, to - from,
                 image + in_y * plan_.in_row_stride + (in_x + from * plan_.x.stride) * plan_.in_pixel_stride,
                 plan_.x.stride * plan_.in_pixel_stride);
            std::fill(all + to, all + count, zeros);
          } else {
            std::fill(all, all + count, zeros);
          }
        }
      }
      i += count;
      out_x = 0;
      if (++out_y == plan_.y.out_size) {
        out_y = 0;
        ++n;
      }
    }
  }

  const Plan& plan_;
  const E* in_;
};

}  // namespace rules_executorch::kernels::packed
