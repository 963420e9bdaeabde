#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/images/planes.h"
#include "kernels/images/upsampling.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// The weighted sum of several rows of a plane, computed for one block of columns at a time. `Weights::for_each(visit)`
/// calls `visit(y, weight)` for each row.
template <typename T, typename Weights>
class RowSum {
 public:
  /// `width` is the number of columns.
  RowSum(const Plane<T, ConstStridedView>& plane, const Weights& rows, int64_t width)
      : plane_(plane), rows_(rows), width_(width) {}

  T at(int64_t x) {
    if (x < begin_ || x >= end_) {
      compute(x);
    }
    return values_[x - begin_];
  }

  /// Computes a block from column `x` on, and returns a pointer to its first value.
  const T* compute(int64_t x) {
    const int64_t n = std::min(kBlockSize, width_ - x);
    std::fill_n(values_, n, T(0));
    rows_.for_each([&](int64_t y, T weight) {
      T row[kBlockSize];
      plane_.load_row(y, x, n, row);
      vectorized_for(n, [values = values_, &row, weight](int64_t i) { values[i] += weight * row[i]; });
    });
    begin_ = x;
    end_ = x + n;
    return values_;
  }

 private:
  const Plane<T, ConstStridedView>& plane_;
  const Weights& rows_;
  int64_t width_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  T values_[kBlockSize];
};

/// Resamples each plane of `in`: an element of `out` is `finish(sum)`, where `sum` is the weighted sum of rows and
/// columns of `in`. `Weights(upsampling, d, align_corners, i)` are the weights of the input positions from `begin()` to
/// `end()` (exclusive) in dimension `d`, for output position `i`. `work` is the approximate cost of an element, in
/// additions.
template <typename T, typename Weights, typename Finish>
void resample(const Tensor& in, const Upsampling& upsampling, bool align_corners, int64_t work, const Finish& finish,
              Tensor& out) {
  for_each_plane<T>(in, out, work, [&](const auto& source, const auto& target) {
    // One block of columns at a time, because the weights of columns are the same in all rows.
    constexpr int64_t kColumns = kBlockSize / 4;
    Weights columns[kColumns];
    for (int64_t start = 0; start < upsampling.out_size[1]; start += kColumns) {
      const int64_t n = std::min(kColumns, upsampling.out_size[1] - start);
      int64_t begin = upsampling.in_size[1];
      int64_t end = 0;
      for (int64_t j = 0; j < n; ++j) {
        columns[j] = Weights(upsampling, 1, align_corners, start + j);
        begin = std::min(begin, columns[j].begin());
        end = std::max(end, columns[j].end());
      }
      for (int64_t i = 0; i < upsampling.out_size[0]; ++i) {
        const Weights rows(upsampling, 0, align_corners, i);
        RowSum<T, Weights> row(source, rows, end);
        T results[kColumns];
        const auto sum_columns = [&](const auto& value) {
          for (int64_t j = 0; j < n; ++j) {
            T sum = 0;
            columns[j].for_each([&](int64_t x, T weight) { sum += weight * value(x); });
            results[j] = finish(sum);
          }
        };
        if (begin < end && end - begin <= kBlockSize) {
          const T* const values = row.compute(begin);
          sum_columns([=](int64_t x) { return values[x - begin]; });
        } else {
          sum_columns([&](int64_t x) { return row.at(x); });
        }
        target.store_row(i, start, n, results);
      }
    }
  });
}

}  // namespace rules_executorch::kernels
