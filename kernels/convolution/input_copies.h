#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "kernels/convolution/convolution_tile.h"
#include "kernels/convolution/geometry.h"
#include "kernels/math/divide_up.h"

namespace rules_executorch::kernels {

inline constexpr int64_t kCacheLine = 64;

/// a / b, rounded down. b is positive.
constexpr int64_t divide_down(int64_t a, int64_t b) { return a >= 0 ? a / b : -divide_up(-a, b); }

/// Copies the elements of a row, usually few.
inline void copy_row(const char* from, int64_t n, char* to) {
  constexpr int64_t kChunk = 32;
  if (n < kChunk || n > 16 * kChunk) {
    std::memcpy(to, from, n);
    return;
  }
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t start = std::min(i, n - kChunk);
    std::memcpy(to + start, from + start, kChunk);
  }
}

/// One axis of the copies. The input of output `o` at kernel position `k` is in copy `k % copies` at index `o +
/// shift(k)`.
struct CopiedAxis {
  int64_t copies = 0;
  int64_t lead = 0;  // the number of negative indices that outputs read
  int64_t end;       // the end (exclusive) of the indices that outputs read
  int64_t pitch;     // the number of indices from one row of this axis to the next

  explicit CopiedAxis(const ConvolutionAxis& axis) {
    end = axis.out_size;
    if (axis.kernel_size > 0) {
      copies = std::min(axis.stride / std::gcd(axis.stride, axis.dilation), axis.kernel_size);
      const int64_t shifts[] = {shift(axis, 0), shift(axis, axis.kernel_size - 1)};
      lead = std::max<int64_t>(0, -std::min(shifts[0], shifts[1]));
      end += std::max<int64_t>(0, std::max(shifts[0], shifts[1]));
    }
    // The padding after a row is also the padding before the next row.
    pitch = end;
    for (int64_t copy = 0; copy < copies; ++copy) {
      pitch = std::max(pitch, count(axis, copy) + lead);
    }
  }

  static int64_t shift(const ConvolutionAxis& axis, int64_t k) {
    return divide_down(k * axis.dilation + axis.offset, axis.stride);
  }
  /// The input position of index 0 of a copy. The next indices are one stride apart.
  static int64_t first(const ConvolutionAxis& axis, int64_t copy) {
    return copy * axis.dilation + axis.offset - shift(axis, copy) * axis.stride;
  }
  /// The number of input elements in a copy, from index 0 on.
  int64_t count(const ConvolutionAxis& axis, int64_t copy) const {
    return std::clamp<int64_t>(divide_up(axis.in_size - first(axis, copy), axis.stride), 0, end);
  }
};

/// Padded copies of the input of one group of one batch element. There is one copy for each remainder of positions
/// modulo the strides, so that the inputs of neighboring outputs are contiguous in a copy.
class InputCopies {
 public:
  InputCopies(const ConvolutionLoops& loops, const Convolution& convolution)
      : loops_(loops),
        c_(convolution),
        axes_{CopiedAxis(c_.axes[0]), CopiedAxis(c_.axes[1]), CopiedAxis(c_.axes[2])},
        size_(static_cast<int64_t>(elementSize(loops.product.type))) {
    lead_ = (axes_[0].lead * axes_[1].pitch + axes_[1].lead) * axes_[2].pitch + axes_[2].lead;
    // The size of a copy is an odd number of cache lines, to avoid cache-set conflicts between copies.
    const int64_t numel = lead_ + ((axes_[0].end - 1) * axes_[1].pitch + axes_[1].end) * axes_[2].pitch;
    copy_bytes_ = (divide_up(numel * size_, kCacheLine) | 1) * kCacheLine;
  }

  /// The number of bytes of memory, a multiple of a cache line.
  int64_t memory_size() const {
    return offsets_size() + copies_size() + divide_up(row_bytes(), kCacheLine) * kCacheLine;
  }

  /// Whether the copies are not much larger than input and output.
  bool is_dense() const {
    double numel = 1;
    double copied = 1;
    for (int64_t d = 0; d < kMaxSpatialDims; ++d) {
      numel *= static_cast<double>(std::max(c_.axes[d].in_size, c_.axes[d].out_size));
      copied *= static_cast<double>(axes_[d].pitch + axes_[d].lead) * static_cast<double>(axes_[d].copies);
    }
    return copied < 4 * numel + 1024;
  }

  /// Initializes memory of memory_size() bytes.
  void prepare(char* memory) const { find_offsets(reinterpret_cast<int64_t*>(memory)); }

 protected:
  int64_t copies_per_channel() const { return axes_[0].copies * axes_[1].copies * axes_[2].copies; }
  int64_t copies_size() const { return c_.in_channels * copies_per_channel() * copy_bytes_; }
  int64_t offsets_size() const {
    return divide_up(c_.kernel_numel() * int64_t{sizeof(int64_t)}, kCacheLine) * kCacheLine;
  }
  int64_t row_bytes() const { return loops_.columns() * size_; }

  /// The number of positions from the first to the last output.
  int64_t numel() const {
    return ((c_.axes[0].out_size - 1) * axes_[1].pitch + c_.axes[1].out_size - 1) * axes_[2].pitch +
           c_.axes[2].out_size;
  }

  /// Writes all copies.
  void copy_input(const char* in, char* copies) const;

  const ConvolutionLoops& loops_;
  const Convolution c_;
  CopiedAxis axes_[kMaxSpatialDims];
  int64_t size_;
  int64_t lead_;
  int64_t copy_bytes_;

 private:
  void find_offsets(int64_t* offsets) const;
  void make_copy(const char* in, const int64_t* k, char* copy) const;
  void load_row(const char* from, int64_t step, int64_t n, char* row) const;
};

}  // namespace rules_executorch::kernels
