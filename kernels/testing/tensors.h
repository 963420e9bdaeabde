#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "kernels/tensors/dtype.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels::testing {

/// A tensor that owns its memory. It is dense with the dim order `dim_order`, or contiguous.
template <typename T>
class OwnedTensor {
 public:
  explicit OwnedTensor(const std::vector<int>& sizes, std::vector<uint8_t> dim_order = {})
      : sizes_(sizes.begin(), sizes.end()), strides_(sizes.size()), dim_order_(std::move(dim_order)) {
    if (dim_order_.empty()) {
      dim_order_.resize(sizes.size());
      std::iota(dim_order_.begin(), dim_order_.end(), 0);
    }
    int64_t stride = 1;
    for (size_t i = dim_order_.size(); i-- > 0;) {
      strides_[dim_order_[i]] = static_cast<Tensor::StridesType>(stride);
      stride *= sizes_[dim_order_[i]];
    }
    numel_ = stride;
    data_ = std::make_unique<T[]>(numel_ + 1);
    impl_ = std::make_unique<TensorImpl>(CppTypeToScalarType<T>::value, sizes_.size(), sizes_.data(), data_.get(),
                                         dim_order_.data(), strides_.data());
    tensor_ = std::make_unique<Tensor>(impl_.get());
  }

  Tensor& tensor() { return *tensor_; }
  int64_t numel() const { return numel_; }
  T* data() { return data_.get(); }
  std::vector<T> values() const { return {data_.get(), data_.get() + numel_}; }

  /// Fills the tensor with small integers, whose sums are exact in Half.
  OwnedTensor& fill_randomly(std::mt19937& random) {
    std::uniform_int_distribution<int> numbers(-8, 8);
    for (int64_t i = 0; i < numel_; ++i) {
      data_[i] = static_cast<T>(static_cast<float>(numbers(random)));
    }
    return *this;
  }

  /// Fills the tensor with numbers whose sums are rounded.
  OwnedTensor& fill_with_fractions(std::mt19937& random) {
    std::uniform_real_distribution<float> numbers(-1, 1);
    for (int64_t i = 0; i < numel_; ++i) {
      data_[i] = static_cast<T>(numbers(random));
    }
    return *this;
  }

 private:
  std::vector<Tensor::SizesType> sizes_;
  std::vector<Tensor::StridesType> strides_;
  std::vector<uint8_t> dim_order_;
  int64_t numel_ = 0;
  std::unique_ptr<T[]> data_;
  std::unique_ptr<TensorImpl> impl_;
  std::unique_ptr<Tensor> tensor_;
};

/// The offsets in bytes of all elements of `shape` from the first element, in row-major order.
inline std::vector<int64_t> offsets_of(const StridedShape& shape) {
  std::vector<int64_t> offsets;
  std::vector<int64_t> index(shape.rank);
  for (int64_t i = 0; i < shape.numel(); ++i) {
    int64_t offset = 0;
    for (int64_t d = 0, left = i, count = shape.numel(); d < shape.rank; ++d) {
      count /= shape.sizes[d];
      offset += left / count * shape.strides[d];
      left %= count;
    }
    offsets.push_back(offset * shape.element_size());
  }
  return offsets;
}

/// A random order of `rank` dimensions.
template <typename Int>
std::vector<Int> random_order(int rank, std::mt19937& random) {
  std::vector<Int> order(rank);
  std::iota(order.begin(), order.end(), Int{0});
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

/// Sizes of `rank` dimensions with about `numel` elements; some dimensions have size 1.
inline std::vector<int> random_sizes(int rank, int64_t numel, std::mt19937& random) {
  std::vector<int> sizes(rank, 1);
  for (int64_t left = numel; left > 1 && rank > 0;) {
    const int factor = std::uniform_int_distribution<int>(2, 9)(random);
    sizes[std::uniform_int_distribution<int>(0, rank - 1)(random)] *= factor;
    left /= factor;
  }
  return sizes;
}

}  // namespace rules_executorch::kernels::testing
