#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "kernels/images/planes.h"
#include "kernels/images/windows.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

namespace internal {

/// `average_windows` for layouts in which the channels' stride is smaller than the columns' stride. Works on blocks of
/// channels.
template <typename T, typename Rows, typename Columns, typename Finish>
void average_pixels(const ConstStridedView& in, const StridedView& out, int64_t work, const Rows& rows,
                    const Columns& columns, const Finish& finish) {
  constexpr ScalarType kType = CppTypeToScalarType<T>::value;
  const auto stride = [](const StridedShape& shape, int64_t d) { return shape.strides[d] * shape.element_size(); };
  const int64_t cost = std::max<int64_t>(1, work * out.sizes[1] * out.sizes[3]);
  const auto average_row = [&](int64_t n, int64_t i) {
    const Window y_window = rows(i);
    for (int64_t j = 0; j < out.sizes[3]; ++j) {
      const Window x_window = columns(j);
      for (int64_t c = 0; c < out.sizes[1]; c += kBlockSize) {
        const int64_t count = std::min(kBlockSize, out.sizes[1] - c);
        T sums[kBlockSize];
        T values[kBlockSize];
        std::fill_n(sums, count, T(0));
        const char* const first = in.data + n * stride(in, 0) + c * stride(in, 1);
        for (int64_t y = y_window.begin; y < y_window.end; ++y) {
          for (int64_t x = x_window.begin; x < x_window.end; ++x) {
            load_block(in.dtype, first + y * stride(in, 2) + x * stride(in, 3), stride(in, 1), kType, values, count);
            vectorized_for(count, [&sums, &values](int64_t k) { sums[k] += values[k]; });
          }
        }
        for (int64_t k = 0; k < count; ++k) {
          sums[k] = finish(sums[k], i, j);
        }
        store_block(kType, sums, out.dtype,
                    out.data + n * stride(out, 0) + c * stride(out, 1) + i * stride(out, 2) + j * stride(out, 3),
                    stride(out, 1), count);
      }
    }
  };
  parallel_for(0, out.sizes[0] * out.sizes[2], std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      average_row(row / out.sizes[2], row % out.sizes[2]);
    }
  });
}

}  // namespace internal

/// `out[i, j] = finish(sum, i, j)` for each plane, where `sum` is the sum of the elements of `in` in the windows
/// `rows(i)` and `columns(j)`. `work` is the approximate cost of an element of `out`, in additions.
template <typename T, typename Rows, typename Columns, typename Finish>
void average_windows(const Tensor& in, Tensor& out, int64_t work, const Rows& rows, const Columns& columns,
                     const Finish& finish) {
  const ConstStridedView in_view(in);
  const StridedView out_view(out);
  const int64_t rank = in_view.rank;
  if (rank == 4 && in_view.sizes[1] > 1 && std::abs(in_view.strides[1]) < std::abs(in_view.strides[3])) {
    internal::average_pixels<T>(in_view, out_view, work, rows, columns, finish);
    return;
  }
  for_each_plane<T>(in, out, work, [&](const auto& source, const auto& target) {
    for (int64_t i = 0; i < out_view.sizes[rank - 2]; ++i) {
      const Window y_window = rows(i);
      for (int64_t j = 0; j < out_view.sizes[rank - 1]; ++j) {
        const Window x_window = columns(j);
        T sum = 0;
        for (int64_t y = y_window.begin; y < y_window.end; ++y) {
          for (int64_t x = x_window.begin; x < x_window.end; ++x) {
            sum += source.load(y, x);
          }
        }
        target.store(i, j, finish(sum, i, j));
      }
    }
  });
}

}  // namespace rules_executorch::kernels
