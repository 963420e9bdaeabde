#include <algorithm>
#include <cstdint>
#include <tuple>

#include "kernels/parallel/block.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/dims.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/loop_nest.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

template <typename T>
struct Item {
  T value;
  int64_t index;
};

/// Whether `a` comes before `b`. NaN counts as the largest value. Equal values keep their order.
template <typename T, bool kLargest>
bool comes_first(const Item<T>& a, const Item<T>& b) {
  const bool a_is_nan = a.value != a.value;
  const bool b_is_nan = b.value != b.value;
  if (a_is_nan || b_is_nan) {
    return a_is_nan && b_is_nan ? a.index < b.index : a_is_nan == kLargest;
  }
  if (a.value != b.value) {
    return kLargest ? a.value > b.value : a.value < b.value;
  }
  return a.index < b.index;
}

/// Writes the first `k` of `n` elements from `in` on. All strides are in bytes. `items` has memory for `k` items: a
/// heap whose root is the last one of the selected items.
template <typename T, bool kLargest>
void select_first(ScalarType in_type, const char* in, int64_t in_stride, int64_t n, Item<T>* items, int64_t k) {
  int64_t count = 0;
  for (int64_t start = 0; start < n; start += kBlockSize) {
    T values[kBlockSize];
    const int64_t block = std::min(kBlockSize, n - start);
    load_block(in_type, in + start * in_stride, in_stride, CppTypeToScalarType<T>::value, values, block);
    for (int64_t i = 0; i < block; ++i) {
      const Item<T> item{values[i], start + i};
      if (count < k) {
        items[count++] = item;
        std::push_heap(items, items + count, comes_first<T, kLargest>);
      } else if (comes_first<T, kLargest>(item, items[0])) {
        std::pop_heap(items, items + k, comes_first<T, kLargest>);
        items[k - 1] = item;
        std::push_heap(items, items + k, comes_first<T, kLargest>);
      }
    }
  }
  std::sort_heap(items, items + k, comes_first<T, kLargest>);
}

/// A view with at least one dimension.
template <typename View>
View as_lines(const View& view) {
  return view.rank == 0 ? view.unsqueeze(0) : view;
}

template <typename T>
void topk(const Tensor& in_tensor, int64_t k, int64_t dim, bool largest, Item<T>* items, Tensor& values_tensor,
          Tensor& indices_tensor) {
  const ConstStridedView in = as_lines(ConstStridedView(in_tensor));
  const StridedView values = as_lines(StridedView(values_tensor));
  const StridedView indices = as_lines(StridedView(indices_tensor));
  const int64_t in_stride = in.strides[dim] * in.element_size();
  const int64_t values_stride = values.strides[dim] * values.element_size();
  const int64_t indices_stride = indices.strides[dim] * indices.element_size();
  const LoopNest nest = LoopNest::over(in.select(dim, 0), values.select(dim, 0), indices.select(dim, 0));
  const auto select = largest ? &select_first<T, true> : &select_first<T, false>;
  nest.for_each_row(0, nest.numel(), [&](const int64_t* offsets, int64_t row_size) {
    for (int64_t row = 0; row < row_size; ++row) {
      select(in.dtype, in.data + offsets[0] + row * nest.row_stride(0), in_stride, in.sizes[dim], items, k);
      char* const values_line = values.data + offsets[1] + row * nest.row_stride(1);
      char* const indices_line = indices.data + offsets[2] + row * nest.row_stride(2);
      for (int64_t i = 0; i < k; ++i) {
        store_block(CppTypeToScalarType<T>::value, &items[i].value, values.dtype, values_line + i * values_stride,
                    values.element_size(), 1);
        *reinterpret_cast<int64_t*>(indices_line + i * indices_stride) = items[i].index;
      }
    }
  });
}

}  // namespace

std::tuple<Tensor&, Tensor&> topk_values(KernelRuntimeContext& ctx, const Tensor& in, int64_t k, int64_t dim,
                                         bool largest, bool sorted, Tensor& values, Tensor& indices) {
  ET_DEFINE_OPERATOR_NAME(op_name, "topk.values");
  std::tuple<Tensor&, Tensor&> results(values, indices);

  // Check: results are always sorted.
  (void)sorted;
  ET_KERNEL_CHECK(ctx, in.scalar_type() != ScalarType::Bool && is_supported(in.scalar_type()), InvalidArgument,
                  results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, values), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, indices.scalar_type() == ScalarType::Long, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, normalize_dim(dim, in.dim()), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, k >= 0 && k <= (in.dim() == 0 ? 1 : in.sizes()[dim]), InvalidArgument, results);

  // Resize
  Tensor::SizesType sizes[kTensorDimensionLimit];
  std::copy_n(in.sizes().data(), in.dim(), sizes);
  if (in.dim() > 0) {
    sizes[dim] = static_cast<Tensor::SizesType>(k);
  }
  const ArrayRef<Tensor::SizesType> size(sizes, static_cast<size_t>(in.dim()));
  ET_KERNEL_CHECK(ctx, resize_to(values, size) && resize_to(indices, size), InvalidArgument, results);
  if (values.numel() == 0) {
    return results;
  }

  // Compute: the result of a 0-dim tensor is its element for all k.
  k = in.dim() == 0 ? 1 : k;
  ET_SWITCH_REAL_TYPES(compute_type(in.scalar_type()), ctx, op_name, CTYPE, [&] {
    const auto memory = ctx.allocate_temp(static_cast<size_t>(k) * sizeof(Item<CTYPE>), alignof(Item<CTYPE>));
    ET_KERNEL_CHECK(ctx, memory.ok(), MemoryAllocationFailed, );
    topk<CTYPE>(in, k, dim, largest, static_cast<Item<CTYPE>*>(*memory), values, indices);
  });
  return results;
}

}  // namespace torch::executor::native
