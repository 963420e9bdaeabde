#pragma once

#include <algorithm>
#include <cstdint>

namespace rules_executorch::kernels::fixed {

/// A batch of images. Strides are in elements.
struct Images {
  int32_t height;
  int32_t width;
  int32_t batch_stride;
  int32_t channel_stride;
  int32_t row_stride;
  int32_t pixel_stride;
};

struct WindowAxis {
  int32_t size;
  int32_t stride;
  int32_t padding;
  int32_t dilation;
};

/// A window that moves over the rows (y) and columns (x) of images.
struct Window {
  int32_t batch;
  Images in;
  Images out;
  WindowAxis y;
  WindowAxis x;

  int32_t taps() const { return y.size * x.size; }

  /// Calls `function(place, out)` for each pixel of the result: with the place of the window, and the offset of the
  /// pixel.
  template <typename Function>
  void for_each_pixel(const Function& function) const {
    for (int32_t image = 0; image < batch; ++image) {
      for (int32_t row = 0; row < out.height; ++row) {
        for (int32_t column = 0; column < out.width; ++column) {
          function(Place{*this, image * in.batch_stride, row * y.stride - y.padding, column * x.stride - x.padding},
                   image * out.batch_stride + row * out.row_stride + column * out.pixel_stride);
        }
      }
    }
  }

  /// A place of the window: the row and the column of its first tap in an image. Both may be outside of the image.
  struct Place {
    const Window& window;
    int32_t image;
    int32_t row;
    int32_t column;

    /// Calls `function(tap, offset)` for each tap: with the offset of the first channel of the tap's pixel, and for
    /// taps outside of the image with -1.
    template <typename Function>
    void for_each_tap(const Function& function) const {
      int32_t tap = 0;
      int32_t at_row = row;
      for (int32_t i = 0; i < window.y.size; ++i, at_row += window.y.dilation) {
        int32_t at_column = column;
        for (int32_t j = 0; j < window.x.size; ++j, at_column += window.x.dilation, ++tap) {
          const bool is_inside =
              at_row >= 0 && at_row < window.in.height && at_column >= 0 && at_column < window.in.width;
          function(tap, is_inside ? offset_of(at_row, at_column) : -1);
        }
      }
    }

    /// Calls `function(tap, offset, count)` for runs of taps of one row of the window: taps that are all inside of the
    /// image, with the offset of the first one, and taps that are all outside, with -1. The dilation of x must be 1.
    template <typename Function>
    void for_each_run(const Function& function) const {
      const int32_t size = window.x.size;
      const int32_t begin = std::clamp<int32_t>(-column, 0, size);
      const int32_t end = std::clamp<int32_t>(window.in.width - column, begin, size);
      for (int32_t tap = 0, at_row = row; tap < window.taps(); tap += size, at_row += window.y.dilation) {
        const bool is_inside = at_row >= 0 && at_row < window.in.height;
        const int32_t limits[] = {0, is_inside ? begin : size, is_inside ? end : size, size};
        for (int32_t part = 0; part < 3; ++part) {
          const int32_t count = limits[part + 1] - limits[part];
          if (count > 0) {
            function(tap + limits[part], part == 1 ? offset_of(at_row, column + begin) : -1, count);
          }
        }
      }
    }

    int32_t offset_of(int32_t at_row, int32_t at_column) const {
      return image + at_row * window.in.row_stride + at_column * window.in.pixel_stride;
    }
  };
};

}  // namespace rules_executorch::kernels::fixed
