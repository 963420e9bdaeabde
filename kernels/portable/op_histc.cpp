#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "kernels/copy/reshape.h"
#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/resize.h"
#include "kernels/tensors/scalar.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// The ends of a histogram's range.
template <typename T>
struct Ends {
  T left;
  T right;
};

/// Calls `visit(values, start, n)` for blocks of a tensor's elements, in the order of memory.
template <typename T, typename Visit>
void for_each_block_of(const Tensor& tensor, const Visit& visit) {
  const auto* const data = static_cast<const char*>(tensor.const_data_ptr());
  const auto size = static_cast<int64_t>(tensor.element_size());
  for (int64_t start = 0; start < tensor.numel(); start += kBlockSize) {
    T values[kBlockSize];
    const int64_t n = std::min<int64_t>(kBlockSize, tensor.numel() - start);
    load_block(tensor.scalar_type(), data + start * size, size, CppTypeToScalarType<T>::value, values, n);
    visit(values, start, n);
  }
}

/// The smallest and the largest element. NaN if an element is NaN.
template <typename T>
Ends<T> ends_of(const Tensor& in) {
  const T infinity = std::numeric_limits<T>::infinity();
  Ends<T> ends{infinity, static_cast<T>(-infinity)};
  for_each_block_of<T>(in, [&](const T* values, int64_t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const bool is_nan = values[i] != values[i];
      ends.left = values[i] < ends.left || is_nan ? values[i] : ends.left;
      ends.right = values[i] > ends.right || is_nan ? values[i] : ends.right;
    }
  });
  return ends;
}

/// Whether a histogram can have the range, which is widened by `margin` if it is empty.
template <typename T>
bool widen_range(Ends<T>& ends, T margin) {
  ET_CHECK_OR_RETURN_FALSE(
      std::isfinite(static_cast<double>(ends.left)) && std::isfinite(static_cast<double>(ends.right)),
      "the range is not finite");
  ET_CHECK_OR_RETURN_FALSE(ends.left <= ends.right, "the range ends before it begins");
  if (ends.left == ends.right) {
    ends.left -= margin;
    ends.right += margin;
  }
  return true;
}

/// The bin of an element by the element's place in the range; -1 if the element is not in the range. As in PyTorch, the
/// place is computed in the dtype of the elements, also in half precision.
template <typename T>
int64_t bin_of(T value, Ends<T> ends, int64_t bins) {
  if (!(value >= ends.left && value <= ends.right)) {
    return -1;
  }
  const auto bin = static_cast<int64_t>((value - ends.left) * static_cast<T>(bins) / (ends.right - ends.left));
  return std::min(bin, bins - 1);
}

/// The bin by the edges of the bins near the place of `bin_of`, since the place is rounded. The last bin has both
/// edges.
template <typename T>
int64_t bin_between(const T* edges, T value, Ends<T> ends, int64_t bins) {
  if (!(value >= ends.left && value <= ends.right)) {
    return -1;
  }
  const auto near = static_cast<int64_t>((value - ends.left) * static_cast<T>(bins) / (ends.right - ends.left));
  const int64_t first = std::max<int64_t>(near - 1, 0), last = std::min(near + 2, bins + 1);
  const int64_t bin = std::upper_bound(edges + first, edges + last, value) - edges - 1;
  return std::min(bin, bins - 1);
}

/// Edge `i` of `bins` bins, as torch.linspace computes it.
template <typename T>
T edge(int64_t i, Ends<T> ends, int64_t bins) {
  const T step = (ends.right - ends.left) / static_cast<T>(bins);
  return i < (bins + 1) / 2 ? ends.left + step * static_cast<T>(i) : ends.right - step * static_cast<T>(bins - i);
}

template <typename T>
void count_in_bins(KernelRuntimeContext& ctx, const Tensor& in, int64_t bins, Ends<T> ends, Tensor& out) {
  const auto memory = ctx.allocate_temp(static_cast<size_t>(bins) * sizeof(int64_t), alignof(int64_t));
  ET_KERNEL_CHECK(ctx, memory.ok(), MemoryAllocationFailed, );
  auto* const counts = static_cast<int64_t*>(*memory);
  std::fill_n(counts, bins, 0);
  for_each_block_of<T>(in, [&](const T* values, int64_t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t bin = bin_of(values[i], ends, bins);
      if (bin >= 0) {
        ++counts[bin];
      }
    }
  });
  convert_elements(ScalarType::Long, counts, out.scalar_type(), out.mutable_data_ptr(), bins);
}

bool check_histogram(const Tensor& in, int64_t bins, const std::optional<ArrayRef<double>>& range,
                     const std::optional<Tensor>& weight, const Tensor& hist, const Tensor& bin_edges) {
  ET_CHECK_OR_RETURN_FALSE(bins > 0, "there must be bins");
  ET_CHECK_OR_RETURN_FALSE(!range.has_value() || range->size() == 2, "a range has two ends");
  ET_CHECK_OR_RETURN_FALSE(tensors_have_same_dtype(in, hist, bin_edges),
                           "the results have another dtype than the input");
  ET_CHECK_OR_RETURN_FALSE(
      !weight.has_value() || (tensors_have_same_dtype(in, *weight) && weight->numel() == in.numel()),
      "the weights have another dtype than the input, or not one for each element");
  return true;
}

/// Sets `ordered` to the weights of the elements of `in`, in the order of memory of `in`. As in PyTorch, both are
/// paired in row-major order, whatever their shapes. Returns false if there is no memory for a copy.
template <typename T>
bool order_as(KernelRuntimeContext& ctx, const Tensor& in, const Tensor& weight, const T*& ordered) {
  const ConstStridedView elements(in);
  const ConstStridedView weights(weight);
  if (elements.rank == weights.rank && std::equal(elements.sizes, elements.sizes + elements.rank, weights.sizes) &&
      std::equal(elements.strides, elements.strides + elements.rank, weights.strides)) {
    ordered = weight.const_data_ptr<T>();
    return true;
  }
  const auto memory = ctx.allocate_temp(weight.nbytes(), alignof(T));
  if (!memory.ok()) {
    return false;
  }
  StridedView copied;
  static_cast<StridedShape&>(copied) = elements;
  copied.data = static_cast<char*>(*memory);
  copy_reshaped(weights, copied);
  ordered = static_cast<const T*>(*memory);
  return true;
}

template <typename T>
void histogram(KernelRuntimeContext& ctx, const Tensor& in, int64_t bins, const std::optional<ArrayRef<double>>& range,
               const std::optional<Tensor>& weight, bool density, Tensor& hist, Tensor& bin_edges) {
  // Check
  ET_KERNEL_CHECK(ctx, check_histogram(in, bins, range, weight, hist, bin_edges), InvalidArgument, );
  Ends<T> ends{T(0), T(0)};
  if (range.has_value()) {
    ends = {static_cast<T>((*range)[0]), static_cast<T>((*range)[1])};
  } else if (in.numel() > 0) {
    ends = ends_of<T>(in);
  } else {
    ends = {T(0), T(1)};
  }
  ET_KERNEL_CHECK(ctx, widen_range<T>(ends, T(0.5)), InvalidArgument, );

  // Resize
  const int64_t count = bins + 1;
  ET_KERNEL_CHECK(ctx, resize_to_size(hist, {&bins, 1}) && resize_to_size(bin_edges, {&count, 1}), InvalidArgument, );

  // Compute
  const T* weights = nullptr;
  ET_KERNEL_CHECK(ctx, !weight.has_value() || order_as(ctx, in, *weight, weights), MemoryAllocationFailed, );
  T* const edges = bin_edges.mutable_data_ptr<T>();
  T* const sums = hist.mutable_data_ptr<T>();
  for (int64_t i = 0; i <= bins; ++i) {
    edges[i] = edge(i, ends, bins);
  }
  std::fill_n(sums, bins, T(0));
  for_each_block_of<T>(in, [&](const T* values, int64_t start, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t bin = bin_between(edges, values[i], ends, bins);
      if (bin >= 0) {
        sums[bin] += weights != nullptr ? weights[start + i] : T(1);
      }
    }
  });
  if (density) {
    T total(0);
    for (int64_t i = 0; i < bins; ++i) {
      total += sums[i];
    }
    for (int64_t i = 0; i < bins; ++i) {
      sums[i] = sums[i] / total / (edges[i + 1] - edges[i]);
    }
  }
}

}  // namespace

Tensor& histc_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t bins, const Scalar& min, const Scalar& max,
                  Tensor& out) {
  ET_DEFINE_OPERATOR_NAME(op_name, "histc.out");

  // Check
  ET_KERNEL_CHECK(ctx, isFloatingType(in.scalar_type()), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, bins > 0, InvalidArgument, out);

  ET_SWITCH_FLOATHBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE, [&] {
    Ends<CTYPE> ends{scalar_cast<CTYPE>(min), scalar_cast<CTYPE>(max)};
    if (ends.left == ends.right && in.numel() > 0) {
      ends = ends_of<CTYPE>(in);
    }
    ET_KERNEL_CHECK(ctx, widen_range<CTYPE>(ends, CTYPE(1)), InvalidArgument, );

    // Resize
    ET_KERNEL_CHECK(ctx, resize_to_size(out, {&bins, 1}), InvalidArgument, );

    // Compute
    count_in_bins<CTYPE>(ctx, in, bins, ends, out);
  });
  return out;
}

std::tuple<Tensor&, Tensor&> histogram_bin_ct_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t bins,
                                                  std::optional<ArrayRef<double>> range,
                                                  const std::optional<Tensor>& weight, bool density, Tensor& hist,
                                                  Tensor& bin_edges) {
  ET_DEFINE_OPERATOR_NAME(op_name, "histogram.bin_ct_out");
  ET_SWITCH_FLOATHBF16_TYPES(in.scalar_type(), ctx, op_name, CTYPE,
                             [&] { histogram<CTYPE>(ctx, in, bins, range, weight, density, hist, bin_edges); });
  return {hist, bin_edges};
}

}  // namespace torch::executor::native
