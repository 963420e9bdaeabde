#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/images/planes.h"
#include "kernels/images/windows.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// A tensor of lines, images or volumes, with or without a batch, as [batch, channels, depth, height, width]. The last
/// `spatial` dimensions are those of a line, an image or a volume.
template <typename View>
View as_volumes(View view, int64_t spatial) {
  if (view.rank == spatial + 1) {
    view = view.unsqueeze(0);
  }
  for (; spatial < 3; ++spatial) {
    view = view.unsqueeze(2);
  }
  return view;
}

/// An element of volumes.
template <typename View>
auto element_at(const View& volumes, int64_t n, int64_t c, int64_t z, int64_t y, int64_t x) {
  const int64_t* const strides = volumes.strides;
  return volumes.data +
         (n * strides[0] + c * strides[1] + z * strides[2] + y * strides[3] + x * strides[4]) * volumes.element_size();
}

/// Calls `function(n, c, at)` for each position `at` (depth, row and column) of each volume. `work` is the approximate
/// cost of a call, in additions. Threads process disjoint rows.
template <typename Function>
void for_each_position(const StridedShape& volumes, int64_t work, const Function& function) {
  const int64_t* const sizes = volumes.sizes;
  const int64_t rows = sizes[0] * sizes[1] * sizes[2] * sizes[3];
  const int64_t cost = std::max<int64_t>(1, work * sizes[4]);
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t plane = row / sizes[3];
      const int64_t volume = plane / sizes[2];
      for (int64_t x = 0; x < sizes[4]; ++x) {
        const int64_t at[] = {plane % sizes[2], row % sizes[3], x};
        function(volume / sizes[1], volume % sizes[1], at);
      }
    }
  });
}

/// Calls `visit(z, y, x)` for each position of three windows.
template <typename Visit>
void for_each_in(const Window (&windows)[3], const Visit& visit) {
  for (int64_t z = windows[0].begin; z < windows[0].end; z += windows[0].step) {
    for (int64_t y = windows[1].begin; y < windows[1].end; y += windows[1].step) {
      for (int64_t x = windows[2].begin; x < windows[2].end; x += windows[2].step) {
        visit(z, y, x);
      }
    }
  }
}

/// `out[at] = finish(sum, at)` for each volume, where `sum` is the sum of the elements of `in` in the windows
/// `window(d, at[d])` of the dimensions `d`. `in` and `out` are from `as_volumes`.
template <typename T, typename WindowOf, typename Finish>
void average_volumes(const ConstStridedView& in, const StridedView& out, int64_t work, const WindowOf& window,
                     const Finish& finish) {
  for_each_position(out, work, [&](int64_t n, int64_t c, const int64_t (&at)[3]) {
    T sum = 0;
    for_each_in({window(0, at[0]), window(1, at[1]), window(2, at[2])}, [&](int64_t z, int64_t y, int64_t x) {
      sum += load_element<T>(in.dtype, element_at(in, n, c, z, y, x));
    });
    store_element(finish(sum, at), out.dtype, element_at(out, n, c, at[0], at[1], at[2]));
  });
}

/// The gradient of an average pooling: `out[at]` is the sum of the elements of `gradient` in the windows
/// `covering(d, at[d])`, which are the results whose windows have the position, each divided by `count(place)`.
template <typename T, typename CoveringOf, typename Count>
void spread_averages(const ConstStridedView& gradient, const StridedView& out, int64_t work, const CoveringOf& covering,
                     const Count& count) {
  for_each_position(out, work, [&](int64_t n, int64_t c, const int64_t (&at)[3]) {
    T sum = 0;
    for_each_in({covering(0, at[0]), covering(1, at[1]), covering(2, at[2])}, [&](int64_t z, int64_t y, int64_t x) {
      const int64_t place[] = {z, y, x};
      sum += divided(load_element<T>(gradient.dtype, element_at(gradient, n, c, z, y, x)), count(place));
    });
    store_element(sum, out.dtype, element_at(out, n, c, at[0], at[1], at[2]));
  });
}

/// The largest value of each window, the first of several, and its position in the volume. NaN counts as larger than
/// all values. A dilated window may only have padding. The dtype of `in` and `out` is T, that of `indices` Long.
template <typename T, typename WindowOf>
void max_volumes(const ConstStridedView& in, const StridedView& out, const StridedView& indices, int64_t work,
                 const WindowOf& window) {
  using Limits = std::numeric_limits<T>;
  for_each_position(out, work, [&](int64_t n, int64_t c, const int64_t (&at)[3]) {
    const Window windows[] = {window(0, at[0]), window(1, at[1]), window(2, at[2])};
    const auto place = [&in](int64_t z, int64_t y, int64_t x) { return (z * in.sizes[3] + y) * in.sizes[4] + x; };
    T best = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    int64_t best_place = place(windows[0].begin, windows[1].begin, windows[2].begin);
    for_each_in(windows, [&](int64_t z, int64_t y, int64_t x) {
      const T value = *reinterpret_cast<const T*>(element_at(in, n, c, z, y, x));
      if (value > best || value != value) {
        best = value;
        best_place = place(z, y, x);
      }
    });
    *reinterpret_cast<T*>(element_at(out, n, c, at[0], at[1], at[2])) = best;
    *reinterpret_cast<int64_t*>(element_at(indices, n, c, at[0], at[1], at[2])) = best_place;
  });
}

}  // namespace rules_executorch::kernels
