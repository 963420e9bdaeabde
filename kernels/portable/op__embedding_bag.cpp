#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "kernels/parallel/block.h"
#include "kernels/parallel/parallel_for.h"
#include "kernels/tensors/convert.h"
#include "kernels/tensors/dtype.h"
#include "kernels/tensors/resize.h"
#include "kernels/views/strided_view.h"

namespace torch::executor::native {
using namespace rules_executorch::kernels;

namespace {

// The numbers of PyTorch's modes.
enum BagMode : int64_t { kBagSum = 0, kBagMean = 1, kBagMax = 2 };

int64_t whole_number_at(const Tensor& tensor, int64_t i) {
  return tensor.scalar_type() == ScalarType::Long ? tensor.const_data_ptr<int64_t>()[i]
                                                  : tensor.const_data_ptr<int32_t>()[i];
}

void set_whole_number(Tensor& tensor, int64_t i, int64_t value) {
  if (tensor.scalar_type() == ScalarType::Long) {
    tensor.mutable_data_ptr<int64_t>()[i] = value;
  } else {
    tensor.mutable_data_ptr<int32_t>()[i] = static_cast<int32_t>(value);
  }
}

bool is_line_of_whole_numbers(const Tensor& tensor) {
  ET_CHECK_OR_RETURN_FALSE(tensor.dim() == 1, "expected one dimension, got %d", int(tensor.dim()));
  ET_CHECK_OR_RETURN_FALSE(tensor.scalar_type() == ScalarType::Long || tensor.scalar_type() == ScalarType::Int,
                           "expected Long or Int");
  return true;
}

/// The arguments of a call.
struct Bags {
  const Tensor& weight;
  const Tensor& indices;
  const Tensor& offsets;
  const std::optional<Tensor>& factors;
  BagMode mode;
  int64_t count;
  int64_t padding_idx;
  bool skips_rest;  // whether the last bag ends at the last offset, if there is one more offset than bags

  int64_t begin(int64_t bag) const { return whole_number_at(offsets, bag); }
  int64_t end(int64_t bag) const { return bag + 1 < count ? whole_number_at(offsets, bag + 1) : indices.numel(); }
  int64_t end_of_sum(int64_t bag) const {
    return skips_rest && bag + 1 < offsets.numel() ? whole_number_at(offsets, bag + 1) : end(bag);
  }
  /// The number of indices without padding.
  int64_t size(int64_t bag) const {
    if (padding_idx < 0) {
      return end(bag) - begin(bag);
    }
    int64_t result = 0;
    for (int64_t i = begin(bag); i < end(bag); ++i) {
      result += whole_number_at(indices, i) != padding_idx ? 1 : 0;
    }
    return result;
  }

  bool check() const {
    ET_CHECK_OR_RETURN_FALSE(count > 0 || indices.numel() == 0, "there are indices, but no bags");
    ET_CHECK_OR_RETURN_FALSE(offsets.numel() == 0 || whole_number_at(offsets, 0) == 0, "the first offset is not 0");
    for (int64_t bag = 0; bag < offsets.numel(); ++bag) {
      const int64_t from = whole_number_at(offsets, bag);
      const int64_t to = bag + 1 < offsets.numel() ? whole_number_at(offsets, bag + 1) : indices.numel();
      ET_CHECK_OR_RETURN_FALSE(from <= to, "the offset %lld is out of order or past the last index",
                               static_cast<long long>(from));
    }
    for (int64_t i = 0; i < end_of_sum(count - 1); ++i) {
      const int64_t index = whole_number_at(indices, i);
      ET_CHECK_OR_RETURN_FALSE(index >= 0 && index < weight.size(0), "index %lld is out of bounds",
                               static_cast<long long>(index));
    }
    return true;
  }
};

/// Computes the columns of one bag, whose size is `size`, in blocks.
template <typename T>
void compute_bag(const Bags& bags, int64_t bag, int64_t size, const StridedView& out, Tensor* max_rows) {
  constexpr ScalarType kType = CppTypeToScalarType<T>::value;
  const ConstStridedView weight(bags.weight);
  const int64_t row_stride = weight.strides[0] * weight.element_size();
  const int64_t column_stride = weight.strides[1] * weight.element_size();
  for (int64_t column = 0; column < weight.sizes[1]; column += kBlockSize) {
    const int64_t n = std::min(kBlockSize, weight.sizes[1] - column);
    T results[kBlockSize];
    T values[kBlockSize];
    int64_t places[kBlockSize];
    std::fill_n(results, n, T(0));
    std::fill_n(places, n, 0);
    bool is_empty = true;
    for (int64_t i = bags.begin(bag); i < bags.end_of_sum(bag); ++i) {
      const int64_t index = whole_number_at(bags.indices, i);
      if (index == bags.padding_idx) {
        continue;
      }
      load_block(weight.dtype, weight.data + index * row_stride + column * column_stride, column_stride, kType, values,
                 n);
      if (bags.mode == kBagMax) {
        for (int64_t k = 0; k < n; ++k) {
          if (is_empty || values[k] > results[k]) {
            results[k] = values[k];
            places[k] = index;
          }
        }
      } else {
        T factor = 1;
        if (bags.factors.has_value()) {
          const ConstStridedView factors(*bags.factors);
          const int64_t stride = factors.strides[0] * factors.element_size();
          load_block(factors.dtype, factors.data + i * stride, stride, kType, &factor, 1);
        }
        for (int64_t k = 0; k < n; ++k) {
          results[k] += factor * values[k];
        }
      }
      is_empty = false;
    }
    for (int64_t k = 0; k < n; ++k) {
      results[k] = bags.mode == kBagMean && size > 0 ? results[k] / static_cast<T>(size) : results[k];
    }
    const int64_t out_stride = out.strides[1] * out.element_size();
    store_block(kType, results, out.dtype, out.data + bag * out.strides[0] * out.element_size() + column * out_stride,
                out_stride, n);
    if (max_rows != nullptr) {
      for (int64_t k = 0; k < n; ++k) {
        set_whole_number(*max_rows, bag * weight.sizes[1] + column + k, places[k]);
      }
    }
  }
}

/// Computes all bags. `bag_of_index` is written if it has elements.
template <typename T>
void compute_bags(const Bags& bags, Tensor& out, Tensor& bag_of_index, Tensor& bag_size, Tensor& max_rows) {
  const StridedView target(out);
  const bool has_max_rows = bags.mode == kBagMax;
  const int64_t indices_of_bag = bags.indices.numel() / std::max<int64_t>(1, bags.count) + 1;
  const int64_t cost = std::max<int64_t>(1, bags.weight.size(1) * indices_of_bag);
  parallel_for(0, bags.count, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
    for (int64_t bag = begin; bag < end; ++bag) {
      const int64_t size = bags.mode == kBagSum ? 0 : bags.size(bag);
      compute_bag<T>(bags, bag, size, target, has_max_rows ? &max_rows : nullptr);
      set_whole_number(bag_size, bag, size);
      if (!has_max_rows) {
        set_whole_number(max_rows, bag, size);
      }
      for (int64_t i = bags.begin(bag); bag_of_index.numel() > 0 && i < bags.end(bag); ++i) {
        set_whole_number(bag_of_index, i, bag);
      }
    }
  });
}

}  // namespace

/// The second to the fourth result are for gradients: the bag of each index, empty for plain sums; the size of each
/// bag, 0 for sums; and the row of each maximum, or the size of each bag.
std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> _embedding_bag_out(KernelRuntimeContext& ctx, const Tensor& weight,
                                                                  const Tensor& indices, const Tensor& offsets,
                                                                  bool scale_grad_by_freq, int64_t mode, bool sparse,
                                                                  const std::optional<Tensor>& per_sample_weights,
                                                                  bool include_last_offset, int64_t padding_idx,
                                                                  Tensor& out, Tensor& bag_of_index, Tensor& bag_size,
                                                                  Tensor& max_rows) {
  ET_DEFINE_OPERATOR_NAME(op_name, "_embedding_bag.out");
  std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> results(out, bag_of_index, bag_size, max_rows);

  // Check: these arguments only affect gradients.
  (void)scale_grad_by_freq;
  (void)sparse;
  const ScalarType type = weight.scalar_type();
  ET_KERNEL_CHECK(ctx, isFloatingType(type) && weight.dim() == 2, InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(weight, out), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, is_line_of_whole_numbers(indices) && is_line_of_whole_numbers(offsets), InvalidArgument,
                  results);
  const ScalarType index_type = indices.scalar_type() == ScalarType::Int ? offsets.scalar_type() : ScalarType::Long;
  for (const Tensor* tensor : {&bag_of_index, &bag_size, &max_rows}) {
    ET_KERNEL_CHECK(ctx, tensor->scalar_type() == index_type, InvalidArgument, results);
  }
  ET_KERNEL_CHECK(ctx, mode >= kBagSum && mode <= kBagMax, InvalidArgument, results);
  if (per_sample_weights.has_value()) {
    ET_KERNEL_CHECK(ctx, mode == kBagSum && tensors_have_same_dtype(weight, *per_sample_weights), InvalidArgument,
                    results);
    ET_KERNEL_CHECK(ctx, per_sample_weights->dim() == 1 && per_sample_weights->numel() == indices.numel(),
                    InvalidArgument, results);
  }
  ET_KERNEL_CHECK(ctx, !include_last_offset || offsets.numel() > 0, InvalidArgument, results);
  const int64_t count = offsets.numel() - (include_last_offset ? 1 : 0);
  // PyTorch has a faster way for these.
  const bool has_rows = ConstStridedView(weight).strides[1] == 1;
  const bool is_plain = mode != kBagMax && padding_idx < 0 && type != ScalarType::Double && has_rows;
  const bool is_plain_sum = is_plain && mode == kBagSum;
  const Bags bags{weight, indices,     offsets, per_sample_weights, static_cast<BagMode>(mode),
                  count,  padding_idx, is_plain};
  ET_KERNEL_CHECK(ctx, bags.check(), InvalidArgument, results);

  // Resize
  const auto bag_count = static_cast<Tensor::SizesType>(count);
  const Tensor::SizesType sizes[] = {bag_count, static_cast<Tensor::SizesType>(weight.size(1))};
  const Tensor::SizesType index_count[] = {static_cast<Tensor::SizesType>(is_plain_sum ? 0 : indices.numel())};
  ET_KERNEL_CHECK(ctx, resize_to(out, sizes) && resize_to(bag_of_index, index_count), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_to(bag_size, {sizes, 1}), InvalidArgument, results);
  ET_KERNEL_CHECK(ctx, resize_to(max_rows, {sizes, size_t{mode == kBagMax ? 2u : 1u}}), InvalidArgument, results);

  // Compute
  ET_SWITCH_FLOAT_TYPES(compute_type(type), ctx, op_name, CTYPE,
                        [&] { compute_bags<CTYPE>(bags, out, bag_of_index, bag_size, max_rows); });
  return results;
}

}  // namespace torch::executor::native
