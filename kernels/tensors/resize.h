#pragma once

#include <algorithm>

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Resizes `out` to `sizes`. Returns false if `out` is static, has another rank, or has too little memory.
inline bool resize_to(Tensor& out, const ArrayRef<Tensor::SizesType>& sizes) {
  return resize_tensor(out, sizes) == Error::Ok;
}

/// Resizes `out` to the shape of `tensor`.
inline bool resize_like(Tensor& out, const Tensor& tensor) { return resize_to(out, tensor.sizes()); }

/// Resizes `out` to `size`, an argument of a program. Returns false if no tensor can have this size.
bool resize_to_size(Tensor& out, const ArrayRef<int64_t>& size);

/// Resizes `out` to the shape of `tensor`, whose last dimension becomes `last`: the result of a linear layer.
inline bool resize_like_with_last(Tensor& out, const Tensor& tensor, int64_t last) {
  Tensor::SizesType sizes[kTensorDimensionLimit];
  std::copy_n(tensor.sizes().data(), tensor.dim(), sizes);
  sizes[tensor.dim() - 1] = static_cast<Tensor::SizesType>(last);
  return resize_to(out, {sizes, static_cast<size_t>(tensor.dim())});
}

/// Resizes `out` to the shape that `count` tensors broadcast to. See `resize_to_broadcast`.
bool resize_to_broadcast_of(Tensor& out, const Tensor* const* inputs, int count);

/// Resizes `out` to the shape that `inputs` broadcast to. Returns false if they do not broadcast.
template <typename... Inputs>
bool resize_to_broadcast(Tensor& out, const Inputs&... inputs) {
  const Tensor* const list[] = {&inputs...};
  return resize_to_broadcast_of(out, list, sizeof...(inputs));
}

}  // namespace rules_executorch::kernels
