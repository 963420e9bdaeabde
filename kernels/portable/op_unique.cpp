#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <tuple>

#include "kernels/copy/copy.h"
#include "kernels/parallel/block.h"
#include "kernels/reduce/sort.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

/// What an operator that drops repeated items is asked for.
struct UniqueCall {
  /// Whether only items that follow one another are compared.
  bool is_consecutive;
  bool returns_inverse;
  bool returns_counts;
  /// The dimension along which the items are. Without, the items are the elements.
  std::optional<int64_t> dim;
};

/// The keys of the items, `width` for each. Items are equal if their elements are; NaN equals no element.
template <typename Key>
struct KeyedItems {
  const Key* keys;
  int64_t width;
  bool has_nan_keys;

  bool are_equal(uint32_t a, uint32_t b) const {
    const Key* const x = keys + a * width;
    const Key* const y = keys + b * width;
    for (int64_t i = 0; i < width; ++i) {
      if (x[i] != y[i] || (has_nan_keys && x[i] == kNanKey<Key>)) {
        return false;
      }
    }
    return true;
  }

  bool is_before(uint32_t a, uint32_t b) const {
    const Key* const x = keys + a * width;
    const Key* const y = keys + b * width;
    const auto [p, q] = std::mismatch(x, x + width, y);
    return p == x + width ? a < b : *p < *q;
  }
};

/// Writes the keys of a view's elements in row-major order.
template <typename Key>
void write_keys(const ConstStridedView& view, Key* keys) {
  const StridedShape target = view.contiguous(sizeof(Key) == 8 ? ScalarType::Long : ScalarType::Int);
  const LoopNest nest = LoopNest::over(target, view);
  nest.for_each_row(0, nest.numel(), [&](const int64_t* offsets, int64_t row_size) {
    for (int64_t start = 0; start < row_size; start += kBlockSize) {
      Ranked<Key> ranked[kBlockSize];
      const int64_t n = std::min(kBlockSize, row_size - start);
      rank_elements<Key>(view.dtype, view.data + offsets[1] + start * nest.row_stride(1), nest.row_stride(1), n,
                         /*descending=*/false, ranked);
      for (int64_t i = 0; i < n; ++i) {
        keys[offsets[0] / static_cast<int64_t>(sizeof(Key)) + start + i] = ranked[i].key;
      }
    }
  });
}

/// The offset in elements of element `i` in row-major order.
int64_t offset_in_row_major_order(const StridedShape& shape, int64_t i) {
  int64_t offset = 0;
  for (int64_t d = shape.rank - 1; d >= 0; --d) {
    offset += i % shape.sizes[d] * shape.strides[d];
    i /= shape.sizes[d];
  }
  return offset;
}

/// Resizes a result that is not asked for to no elements. A program may have planned memory of a fixed size for the
/// result, which no one reads.
bool resize_to_nothing(Tensor& out) {
  const int64_t nothing[] = {0};
  return out.shape_dynamism() == TensorShapeDynamism::STATIC || resize_to_size(out, nothing);
}

/// Copies item `from` of the input to item `to` of the output.
void copy_item(const ConstStridedView& in, std::optional<int64_t> dim, int64_t from, const StridedView& out,
               int64_t to) {
  if (dim.has_value()) {
    copy(in.select(*dim, from), out.select(*dim, to));
  } else {
    const int64_t size = in.element_size();
    std::memcpy(out.data + to * out.strides[0] * size, in.data + offset_in_row_major_order(in, from) * size,
                static_cast<size_t>(size));
  }
}

/// The items of `view` along `dim`, or its elements, as the first dimension.
ConstStridedView with_items_first(const ConstStridedView& view, std::optional<int64_t> dim) {
  if (!dim.has_value()) {
    return view;
  }
  int64_t dims[kTensorDimensionLimit] = {*dim};
  for (int64_t d = 0, to = 1; d < view.rank; ++d) {
    if (d != *dim) {
      dims[to++] = d;
    }
  }
  return view.permute(dims);
}

/// Writes the numbers of `n` items in the order of their keys. Items of one key are sorted by digits in `ranked`, which
/// has room for 2 * n. Without `ranked`, items are compared.
template <typename Key>
void sort_items(const KeyedItems<Key>& items, int64_t n, Ranked<Key>* ranked, uint32_t* order) {
  if (ranked == nullptr) {
    std::sort(order, order + n, [&](uint32_t a, uint32_t b) { return items.is_before(a, b); });
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    ranked[i] = {items.keys[i], static_cast<uint32_t>(i)};
  }
  const Ranked<Key>* const sorted = sort_ranked(ranked, ranked + n, n);
  for (int64_t i = 0; i < n; ++i) {
    order[i] = sorted[i].index;
  }
}

/// The tensors that the operators return.
struct UniqueResults {
  Tensor& out;
  Tensor& inverse;
  Tensor& counts;
};

/// Resizes the results for `n` items, of which `unique` differ.
bool resize_results(const Tensor& in, const UniqueCall& call, int64_t n, int64_t unique, const UniqueResults& results) {
  int64_t sizes[kTensorDimensionLimit] = {unique};
  if (call.dim.has_value()) {
    std::copy_n(in.sizes().begin(), in.dim(), sizes);
    sizes[*call.dim] = unique;
  }
  const bool is_resized = !call.returns_inverse ? resize_to_nothing(results.inverse)
                                                : (call.dim.has_value() ? resize_to_size(results.inverse, {&n, 1})
                                                                        : resize_like(results.inverse, in));
  return resize_to_size(results.out, {sizes, static_cast<size_t>(call.dim.has_value() ? in.dim() : 1)}) && is_resized &&
         (call.returns_counts ? resize_to_size(results.counts, {&unique, 1}) : resize_to_nothing(results.counts));
}

/// Writes the first of equal items, the numbers and the counts. `order` has the items' numbers, those of equal items
/// one after another.
template <typename Key>
void write_results(const ConstStridedView& in, const UniqueCall& call, const KeyedItems<Key>& items,
                   ArrayRef<uint32_t> order, const UniqueResults& results) {
  const StridedView out(results.out);
  const StridedView inverse(results.inverse);
  auto* const counts = results.counts.mutable_data_ptr<int64_t>();
  int64_t unique = -1;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !items.are_equal(order[i - 1], order[i])) {
      ++unique;
      copy_item(in, call.dim, order[i], out, unique);
      if (call.returns_counts) {
        counts[unique] = 0;
      }
    }
    if (call.returns_counts) {
      ++counts[unique];
    }
    if (call.returns_inverse) {
      reinterpret_cast<int64_t*>(inverse.data)[offset_in_row_major_order(inverse, order[i])] = unique;
    }
  }
}

template <typename Key>
void find_unique(KernelRuntimeContext& ctx, const Tensor& in, const UniqueCall& call, const UniqueResults& results) {
  const ConstStridedView view(in);
  const int64_t n = call.dim.has_value() ? view.sizes[*call.dim] : in.numel();

  const bool is_ranked = !call.is_consecutive && in.numel() == n;
  const size_t size_of_ranked = is_ranked ? 2 * static_cast<size_t>(n) * sizeof(Ranked<Key>) : 0;
  const size_t size_of_keys = static_cast<size_t>(in.numel()) * sizeof(Key);
  const auto memory = ctx.allocate_temp(size_of_ranked + size_of_keys + static_cast<size_t>(n) * sizeof(uint32_t),
                                        alignof(Ranked<Key>));
  ET_KERNEL_CHECK(ctx, memory.ok(), MemoryAllocationFailed, );
  auto* const ranked = is_ranked ? static_cast<Ranked<Key>*>(*memory) : nullptr;
  auto* const keys = reinterpret_cast<Key*>(static_cast<char*>(*memory) + size_of_ranked);
  auto* const order = reinterpret_cast<uint32_t*>(static_cast<char*>(*memory) + size_of_ranked + size_of_keys);

  write_keys(with_items_first(view, call.dim), keys);
  const KeyedItems<Key> items{keys, n == 0 ? 0 : in.numel() / n, isFloatingType(view.dtype)};
  std::iota(order, order + n, 0u);
  if (!call.is_consecutive) {
    sort_items(items, n, ranked, order);
  }
  int64_t unique = 0;
  for (int64_t i = 0; i < n; ++i) {
    unique += i == 0 || !items.are_equal(order[i - 1], order[i]) ? 1 : 0;
  }

  ET_KERNEL_CHECK(ctx, resize_results(in, call, n, unique, results), InvalidArgument, );
  write_results(view, call, items, {order, static_cast<size_t>(n)}, results);
}

void unique(KernelRuntimeContext& ctx, const Tensor& in, UniqueCall call, Tensor& out, Tensor& inverse,
            Tensor& counts) {
  // Check
  ET_KERNEL_CHECK(ctx, is_sortable(in.scalar_type()), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, );
  ET_KERNEL_CHECK(ctx, inverse.scalar_type() == ScalarType::Long && counts.scalar_type() == ScalarType::Long,
                  InvalidArgument, );
  ET_KERNEL_CHECK(ctx, in.numel() <= kLongestSortedLine, InvalidArgument, );
  if (call.dim.has_value()) {
    ET_KERNEL_CHECK(ctx, in.dim() > 0 && normalize_dim(*call.dim, in.dim()), InvalidArgument, );
    // As in PyTorch, items without elements are refused, unless there are no items.
    ET_KERNEL_CHECK(ctx, in.numel() > 0 || in.sizes()[*call.dim] == 0, InvalidArgument, );
  }

  // Resize, and compute
  if (has_wide_keys(in.scalar_type())) {
    find_unique<uint64_t>(ctx, in, call, {out, inverse, counts});
  } else {
    find_unique<uint32_t>(ctx, in, call, {out, inverse, counts});
  }
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> _unique2_out(KernelRuntimeContext& ctx, const Tensor& in, bool sorted,
                                                   bool return_inverse, bool return_counts, Tensor& out0, Tensor& out1,
                                                   Tensor& out2) {
  // The result is always sorted.
  (void)sorted;
  unique(ctx, in, {/*is_consecutive=*/false, return_inverse, return_counts, std::nullopt}, out0, out1, out2);
  return {out0, out1, out2};
}

// As PyTorch's operators of a dimension, the following two return all results.

std::tuple<Tensor&, Tensor&, Tensor&> unique_dim_out(KernelRuntimeContext& ctx, const Tensor& in, int64_t dim,
                                                     bool sorted, bool return_inverse, bool return_counts, Tensor& out0,
                                                     Tensor& out1, Tensor& out2) {
  (void)sorted;
  (void)return_inverse;
  (void)return_counts;
  unique(ctx, in, {/*is_consecutive=*/false, true, true, dim}, out0, out1, out2);
  return {out0, out1, out2};
}

std::tuple<Tensor&, Tensor&, Tensor&> unique_dim_consecutive_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                                 int64_t dim, bool return_inverse, bool return_counts,
                                                                 Tensor& out0, Tensor& out1, Tensor& out2) {
  (void)return_inverse;
  (void)return_counts;
  unique(ctx, in, {/*is_consecutive=*/true, true, true, dim}, out0, out1, out2);
  return {out0, out1, out2};
}

std::tuple<Tensor&, Tensor&, Tensor&> unique_consecutive_out(KernelRuntimeContext& ctx, const Tensor& in,
                                                             bool return_inverse, bool return_counts,
                                                             std::optional<int64_t> dim, Tensor& out0, Tensor& out1,
                                                             Tensor& out2) {
  // As in PyTorch, the elements are the items if there is one dimension.
  if (dim.has_value() && (in.dim() != 1 || *dim != 0)) {
    return unique_dim_consecutive_out(ctx, in, *dim, return_inverse, return_counts, out0, out1, out2);
  }
  unique(ctx, in, {/*is_consecutive=*/true, return_inverse, return_counts, std::nullopt}, out0, out1, out2);
  return {out0, out1, out2};
}

}  // namespace torch::executor::native
