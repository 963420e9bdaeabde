#include "kernels/reduce/normalize.h"

#include <algorithm>
#include <cmath>

#include "kernels/copy/copy.h"
#include "kernels/math/vectorize.h"
#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/views/loop_nest.h"

namespace rules_executorch::kernels {
namespace {

/// The dimensions `first` to `last` (exclusive) of `view`.
template <typename View>
View dims_of(const View& view, int64_t first, int64_t last) {
  View result = view;
  result.rank = last - first;
  std::copy(view.sizes + first, view.sizes + last, result.sizes);
  std::copy(view.strides + first, view.strides + last, result.strides);
  return result;
}

/// A group of elements with a common mean and variance.
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
    const T sum = sum_of([](T total, T x) { return total + x; });
    return nest_.numel() == 0 ? T(0) : sum / static_cast<T>(nest_.numel());
  }

  T variance(T mean) const {
    return sum_of([mean](T total, T x) { return total + (x - mean) * (x - mean); }) / static_cast<T>(nest_.numel());
  }

  void write(T mean, T rstd) const {
    for_each_block([&](const int64_t* offsets, int64_t start, int64_t n) {
      T blocks[3][kBlockSize];
      const T* const x = in_.load(offsets[0], start, n, blocks[0]);
      const T* const weight = weight_.load(offsets[2], start, n, blocks[1]);
      const T* const bias = bias_.load(offsets[3], start, n, blocks[2]);
      const int64_t stride = nest_.row_stride(1);
      char* const out = out_ + offsets[1] + start * stride;
      const bool is_direct = out_type_ == kType && stride == sizeof(T);
      T* const results = is_direct ? reinterpret_cast<T*>(out) : blocks[0];
      vectorized_for(n, [=](int64_t i) { results[i] = (x[i] - mean) * rstd * weight[i] + bias[i]; });
      if (!is_direct) {
        store_block(kType, results, out_type_, out, stride, n);
      }
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

    /// A pointer to the elements, or `block` with converted elements if they are not contiguous elements of type T.
    const T* load(int64_t offset, int64_t start, int64_t n, T* block) const {
      const char* const first = data + offset + start * stride;
      if (type == kType && stride == sizeof(T)) {
        return reinterpret_cast<const T*>(first);
      }
      load_block(type, first, stride, kType, block, n);
      return block;
    }
  };

  /// The sum over all elements. `add(total, x)` adds an element to a sum.
  template <typename Add>
  T sum_of(const Add& add) const {
    LaneReduction<T> sum(0);
    for_each_block([&](const int64_t* offsets, int64_t start, int64_t n) {
      T block[kBlockSize];
      sum.add(n, in_.load(offsets[0], start, n, block), add);
    });
    return sum.result([](T a, T b) { return a + b; });
  }

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
  // If one parameter is missing, the dtype of the other one is used.
  const ScalarType common_type = weight.has_value() ? weight_type : bias_type;
  const bool fits = common_type == type || common_type == compute_type(type);
  return fits && (!bias.has_value() || bias_type == common_type) ? common_type : ScalarType::Undefined;
}

template <typename T>
void normalize(const Normalization& normalization) {
  constexpr ScalarType kType = CppTypeToScalarType<T>::value;
  Normalization n = normalization;
  const int64_t first = n.first_normalized;
  const int64_t rank = n.in.rank;
  if (rank > 0 && n.in.dtype == n.out.dtype && n.in.strides[rank - 1] != 1 && n.out.strides[rank - 1] == 1) {
    // The elements are read three times, so that a contiguous copy is faster.
    copy(n.in, n.out);
    n.in = n.out;
  }
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
      const T variance = group.variance(mean);
      const T rstd = 1 / std::sqrt(variance + static_cast<T>(n.eps));
      group.write(mean, rstd);
      store_block(kType, &mean, n.mean.dtype, n.mean.data + offsets[4], n.mean.element_size(), 1);
      store_block(kType, &rstd, n.rstd.dtype, n.rstd.data + offsets[5], n.rstd.element_size(), 1);
      if (n.running_variance != nullptr) {
        const T numel = static_cast<T>(nest.numel());
        const T share = static_cast<T>(n.momentum);
        char* const running = n.running_variance + offsets[5];
        T value;
        load_block(n.rstd.dtype, running, 0, kType, &value, 1);
        value = share * (variance * (numel / (numel - 1))) + (1 - share) * value;
        store_block(kType, &value, n.rstd.dtype, running, n.rstd.element_size(), 1);
      }
    }
  });
}

template void normalize<float>(const Normalization& normalization);
template void normalize<double>(const Normalization& normalization);

}  // namespace rules_executorch::kernels
