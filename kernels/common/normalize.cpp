#include "kernels/common/normalize.h"

#include <algorithm>
#include <cmath>

#include "kernels/common/block.h"
#include "kernels/common/convert.h"
#include "kernels/common/loop_nest.h"
#include "kernels/common/parallel_for.h"
#include "kernels/common/vectorize.h"

namespace rules_executorch::kernels {
namespace {

/// The dimensions of `view` from `first` to `last`.
template <typename View>
View dims_of(const View& view, int64_t first, int64_t last) {
  View result = view;
  result.rank = last - first;
  std::copy(view.sizes + first, view.sizes + last, result.sizes);
  std::copy(view.strides + first, view.strides + last, result.strides);
  return result;
}

/// One group of elements that are normalized together.
template <typename T>
class Group {
 public:
  Group(const LoopNest& nest, const Normalization& normalization, const int64_t* offsets)
      : nest_(nest),
        in_(normalization.in, normalization.in.data + offsets[0], nest.row_stride(0)),
        weight_(normalization.weight, normalization.weight.data + offsets[2], nest.row_stride(2)),
        bias_(normalization.bias, normalization.bias.data + offsets[3], nest.row_stride(3)),
        out_type_(normalization.out.dtype),
        out_(normalization.out.data + offsets[1]) {}

  T mean() const {
    LaneReduction<T> sum(0);
    for_each_block([&](const int64_t* offsets, int64_t start, int64_t n) {
      T x[kBlockSize];
      in_.load(offsets[0], start, n, x);
      sum.add(n, x, plus);
    });
    return nest_.numel() == 0 ? T(0) : sum.result(plus) / static_cast<T>(nest_.numel());
  }

  T variance(T mean) const {
    LaneReduction<T> sum(0);
    for_each_block([&](const int64_t* offsets, int64_t start, int64_t n) {
      T x[kBlockSize];
      in_.load(offsets[0], start, n, x);
      vectorized_for(n, [&x, mean](int64_t i) { x[i] = (x[i] - mean) * (x[i] - mean); });
      sum.add(n, x, plus);
    });
    return sum.result(plus) / static_cast<T>(nest_.numel());
  }

  void write(T mean, T rstd) const {
    for_each_block([&](const int64_t* offsets, int64_t start, int64_t n) {
      T x[kBlockSize];
      T weight[kBlockSize];
      T bias[kBlockSize];
      in_.load(offsets[0], start, n, x);
      weight_.load(offsets[2], start, n, weight);
      bias_.load(offsets[3], start, n, bias);
      vectorized_for(n, [&, mean, rstd](int64_t i) { x[i] = (x[i] - mean) * rstd * weight[i] + bias[i]; });
      store_block(kType, x, out_type_, out_ + offsets[1] + start * nest_.row_stride(1), nest_.row_stride(1), n);
    });
  }

 private:
  static constexpr ScalarType kType = CppTypeToScalarType<T>::value;

  struct Source {
    ScalarType type;
    const char* data;
    int64_t stride;

    Source(const StridedShape& shape, const char* first, int64_t row_stride)
        : type(shape.dtype), data(first), stride(row_stride) {}

    void load(int64_t offset, int64_t start, int64_t n, T* block) const {
      load_block(type, data + offset + start * stride, stride, kType, block, n);
    }
  };

  static T plus(T a, T b) { return a + b; }

  template <typename Function>
  void for_each_block(const Function& function) const {
    nest_.for_each_row(0, nest_.numel(), [&](const int64_t* offsets, int64_t row_size) {
      for (int64_t start = 0; start < row_size; start += kBlockSize) {
        function(offsets, start, std::min(kBlockSize, row_size - start));
      }
    });
  }

  const LoopNest& nest_;
  Source in_;
  Source weight_;
  Source bias_;
  ScalarType out_type_;
  char* out_;
};

}  // namespace

ScalarType parameter_type(ScalarType type, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias) {
  const ScalarType weight_type = weight.has_value() ? weight->scalar_type() : type;
  const ScalarType bias_type = bias.has_value() ? bias->scalar_type() : type;
  // Where one is missing, the other one decides.
  const ScalarType common_type = weight.has_value() ? weight_type : bias_type;
  const bool fits = common_type == type || common_type == compute_type(type);
  return fits && (!bias.has_value() || bias_type == common_type) ? common_type : ScalarType::Undefined;
}

template <typename T>
void normalize(const Normalization& normalization) {
  constexpr ScalarType kType = CppTypeToScalarType<T>::value;
  const Normalization& n = normalization;
  const int64_t first = n.first_normalized;
  const int64_t rank = n.in.rank;
  const LoopNest kept = LoopNest::over(dims_of(n.in, 0, first), dims_of(n.out, 0, first), dims_of(n.weight, 0, first),
                                       dims_of(n.bias, 0, first), dims_of(n.mean, 0, first), dims_of(n.rstd, 0, first));
  const LoopNest nest = LoopNest::over(dims_of(n.in, first, rank), dims_of(n.out, first, rank),
                                       dims_of(n.weight, first, rank), dims_of(n.bias, first, rank));
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, nest.numel()));
  kept.parallel_for_each_row(grain, [&](const int64_t* row, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      int64_t offsets[kMaxOperands];
      for (int k = 0; k < kMaxOperands; ++k) {
        offsets[k] = row[k] + i * kept.row_stride(k);
      }
      const Group<T> group(nest, n, offsets);
      const T mean = group.mean();
      const T rstd = 1 / std::sqrt(group.variance(mean) + static_cast<T>(n.eps));
      group.write(mean, rstd);
      store_block(kType, &mean, n.mean.dtype, n.mean.data + offsets[4], n.mean.element_size(), 1);
      store_block(kType, &rstd, n.rstd.dtype, n.rstd.data + offsets[5], n.rstd.element_size(), 1);
    }
  });
}

template void normalize<float>(const Normalization& normalization);
template void normalize<double>(const Normalization& normalization);

}  // namespace rules_executorch::kernels
