#include <algorithm>
#include <cstring>

#include "kernels/convolution/quantized.h"
#include "kernels/gemm/integer_product.h"
#include "kernels/gemm/matmul.h"
#include "kernels/math/divide_up.h"
#include "kernels/parallel/grain.h"
#include "kernels/parallel/parallel_for.h"

namespace rules_executorch::kernels {
namespace {

/// The number of bytes of a block of im2col rows. A block fits into a part of a cache.
constexpr int64_t kBlockBytes = int64_t{1} << 17;
/// The number of pixels that are computed together. Their rows stay in a cache while all panels of weights are
/// multiplied. The number is a multiple of the tile's rows.
constexpr int64_t kPixelBlock = 72;
constexpr int64_t kPixelStep = 12;
/// The constant number of bytes of a short copy.
constexpr int64_t kShortCopy = 16;

/// Computes one group at a time: im2col rows times weights. For a pointwise convolution, the input has these rows.
/// Otherwise the rows are copied.
class RowConvolution {
 public:
  explicit RowConvolution(const QuantizedConvolution& convolution)
      : c_(convolution),
        in_place_(convolution.y.is_pointwise() && convolution.x.is_pointwise()),
        k_(convolution.in_channels * convolution.taps()),
        pitch_(divide_up(k_, kPanelDepth) * kPanelDepth),
        end_(convolution.in +
             convolution.batch * convolution.y.in_size * convolution.x.in_size * convolution.all_in_channels()) {}

  bool compute(ProductScratch& scratch) const {
    const int64_t all = c_.batch * c_.y.out_size * c_.x.out_size;
    if (in_place_) {
      for (int64_t group = 0; group < c_.groups; ++group) {
        multiply(group, c_.in + group * c_.in_channels, c_.all_in_channels(), 0, all);
      }
      return true;
    }
    const int64_t pixels = std::min(all, std::max(kBlockBytes / pitch_ / kPixelBlock, thread_count()) * kPixelBlock);
    uint8_t* const rows = reinterpret_cast<uint8_t*>(scratch.get(pixels * pitch_));
    if (rows == nullptr) {
      return false;
    }
    for (int64_t group = 0; group < c_.groups; ++group) {
      for (int64_t first = 0; first < all; first += pixels) {
        const int64_t count = std::min(pixels, all - first);
        parallel_for(0, divide_up(count, kPixelBlock), std::max<int64_t>(kGrain / (kPixelBlock * pitch_), 1),
                     [&](int64_t begin, int64_t end) {
                       const int64_t row = begin * kPixelBlock;
                       copy_rows(group, first + row, std::min(end * kPixelBlock, count) - row, rows + row * pitch_);
                     });
        multiply(group, rows, pitch_, first, count);
      }
    }
    return true;
  }

 private:
  /// Copies the im2col rows of `count` pixels, from `first` on.
  void copy_rows(int64_t group, int64_t first, int64_t count, uint8_t* target) const {
    const int64_t channels = c_.all_in_channels();
    int64_t out_x = first % c_.x.out_size;
    int64_t out_y = first / c_.x.out_size % c_.y.out_size;
    int64_t batch = first / c_.x.out_size / c_.y.out_size;
    for (int64_t pixel = 0, copied = 0; pixel < count; pixel += copied, target += copied * pitch_) {
      const int64_t x = out_x * c_.x.stride - c_.x.padding;
      const int64_t y = out_y * c_.y.stride - c_.y.padding;
      const uint8_t* const image = c_.in + batch * c_.y.in_size * c_.x.in_size * channels + group * c_.in_channels;
      copied = copy_run(image, x, y, c_.x.out_size - out_x, (count - pixel) * pitch_, target);
      if (copied == 0) {
        copy_pixel(image, x, y, target);
        copied = 1;
      }
      out_x += copied;
      if (out_x == c_.x.out_size) {
        out_x = 0;
        if (++out_y == c_.y.out_size) {
          out_y = 0;
          ++batch;
        }
      }
    }
  }

  /// Copies the im2col row of the pixel whose kernel starts at column `x` and row `y`.
  void copy_pixel(const uint8_t* image, int64_t x, int64_t y, uint8_t* target) const {
    const int64_t channels = c_.all_in_channels();
    const bool is_run = c_.groups == 1 && c_.x.dilation == 1 && x >= 0 && x + c_.x.kernel_size <= c_.x.in_size;
    const int64_t n = c_.x.kernel_size * c_.in_channels;
    for (int64_t i = 0; i < c_.y.kernel_size; ++i, target += n) {
      const int64_t at = y + i * c_.y.dilation;
      if (at < 0 || at >= c_.y.in_size) {
        std::memset(target, c_.zero_point, static_cast<size_t>(n));
      } else if (is_run) {
        std::memcpy(target, image + (at * c_.x.in_size + x) * channels, static_cast<size_t>(n));
      } else {
        copy_columns(image + at * c_.x.in_size * channels, x, target);
      }
    }
  }

  /// Copies the im2col rows of at most `most` pixels of a row, and returns the number of copied pixels. Each kernel row
  /// is a copy of kShortCopy bytes, because copies of a constant size are the fastest. The next copy overwrites the
  /// surplus bytes. All writes stay within `room` bytes, because the bytes after them may belong to another thread.
  /// Returns 0 if a kernel position is outside of the input.
  int64_t copy_run(const uint8_t* image, int64_t x, int64_t y, int64_t most, int64_t room, uint8_t* target) const {
    const int64_t n = c_.x.kernel_size * c_.in_channels;
    const int64_t free_columns = c_.x.in_size - x - c_.x.kernel_size;
    const int64_t last = y + (c_.y.kernel_size - 1) * c_.y.dilation;
    if (c_.groups != 1 || c_.x.dilation != 1 || n > kShortCopy || x < 0 || free_columns < 0 || y < 0 ||
        last >= c_.y.in_size) {
      return 0;
    }
    const uint8_t* source = image + (y * c_.x.in_size + x) * c_.in_channels;
    const int64_t step = c_.x.stride * c_.in_channels;
    const int64_t row_step = c_.y.dilation * c_.x.in_size * c_.in_channels;
    // The remaining bytes of the input and of the target after the last copy of the first pixel.
    const int64_t unread = end_ - (source + (c_.y.kernel_size - 1) * row_step) - kShortCopy;
    const int64_t unwritten = room - (c_.y.kernel_size - 1) * n - kShortCopy;
    if (unread < 0 || unwritten < 0) {
      return 0;
    }
    const int64_t pixels = std::min({most, free_columns / c_.x.stride + 1, unread / step + 1, unwritten / pitch_ + 1});
    for (int64_t pixel = 0; pixel < pixels; ++pixel, source += step, target += pitch_) {
      for (int64_t i = 0; i < c_.y.kernel_size; ++i) {
        std::memcpy(target + i * n, source + i * row_step, kShortCopy);
      }
    }
    return pixels;
  }

  /// Copies the inputs of a kernel row from column `x` on.
  void copy_columns(const uint8_t* image_row, int64_t x, uint8_t* target) const {
    const auto n = static_cast<size_t>(c_.in_channels);
    for (int64_t i = 0; i < c_.x.kernel_size; ++i, target += n) {
      const int64_t at = x + i * c_.x.dilation;
      if (at < 0 || at >= c_.x.in_size) {
        std::memset(target, c_.zero_point, n);
      } else {
        std::memcpy(target, image_row + at * c_.all_in_channels(), n);
      }
    }
  }

  /// Multiplies the rows of `count` pixels, from `first` on, in parts of several rows and several panels.
  void multiply(int64_t group, const uint8_t* rows, int64_t row_stride, int64_t first, int64_t count) const {
    const int64_t panels = divide_up(c_.out_channels, kPanelColumns);
    const int64_t products = count * c_.out_channels * k_;
    const int64_t parts = part_count(products / QuantizedConvolution::kPartProducts);
    const int64_t row_parts = std::min(parts, divide_up(count, kPixelStep));
    const int64_t panel_parts = std::min(parts / row_parts, panels);
    const auto row_at = [&](int64_t part) {
      return part == row_parts ? count : count * part / row_parts / kPixelStep * kPixelStep;
    };
    parallel_for(0, row_parts * panel_parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        const int64_t last_row = row_at(part / panel_parts + 1);
        const int64_t last_panel = panels * (part % panel_parts + 1) / panel_parts;
        for (int64_t row = row_at(part / panel_parts); row < last_row; row += kPixelBlock) {
          for (int64_t panel = panels * (part % panel_parts) / panel_parts; panel < last_panel; panel += kPanels) {
            multiply_block(group, rows, row_stride, first, {row, std::min(kPixelBlock, last_row - row)},
                           {panel, std::min(kPanels, last_panel - panel)});
          }
        }
      }
    });
  }

  struct Range {
    int64_t first;
    int64_t count;
  };

  /// Multiplies several rows by several panels.
  void multiply_block(int64_t group, const uint8_t* rows, int64_t row_stride, int64_t first_pixel, Range row,
                      Range panel) const {
    const int64_t panel_stride = c_.weight_groups() * kPanelColumns * kPanelDepth;
    const int64_t out_row_stride = c_.all_out_channels() * c_.element_size;
    const int64_t column = panel.first * kPanelColumns;
    const int64_t channel = group * c_.out_channels + column;
    const IntegerProduct product = {
        reinterpret_cast<const char*>(rows) + row.first * row_stride,
        row_stride,
        row.count,
        c_.bits,
        c_.weight + (group * divide_up(c_.out_channels, kPanelColumns) + panel.first) * panel_stride,
        panel_stride,
        std::min(panel.count * kPanelColumns, c_.out_channels - column),
        in_place_ ? k_ : pitch_,  // copied rows are padded, and the weights of the padding are 0
        c_.conversion,
        c_.out + (first_pixel + row.first) * out_row_stride + channel * c_.element_size,
        out_row_stride};
    multiply_by_weights(product, channel);
  }

  const QuantizedConvolution& c_;
  bool in_place_;
  int64_t k_;
  int64_t pitch_;
  const uint8_t* end_;  // of the input
};

}  // namespace

bool convolve_rows(const QuantizedConvolution& convolution, ProductScratch& scratch) {
  return RowConvolution(convolution).compute(scratch);
}

}  // namespace rules_executorch::kernels
