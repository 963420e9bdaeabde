#pragma once

#include <cstdint>
#include <optional>

#include "kernels/fourier/lines.h"
#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// The dimensions of a transform, in the order of the operator's argument. The last one is that of real numbers.
struct FourierDims {
  int64_t count = 0;
  int64_t dims[::executorch::runtime::kTensorDimensionLimit];
  int64_t last_length = 0;  // the length of the transform along the last dimension
  double scale = 1;         // of the results

  int64_t last() const { return dims[count - 1]; }
};

/// Sets `result` to the dimensions `dims` of `in`, which must be different, with a transform of `last_length` elements
/// along the last one, or of all elements if this is missing. `normalization`: 0 for none, 1 for a division by the root
/// of the number of elements that a result depends on, and others, as in PyTorch, for a division by this number.
/// Returns false for invalid dimensions and lengths.
bool make_fourier_dims(const Tensor& in, const ArrayRef<int64_t>& dims, const std::optional<int64_t>& last_length,
                       int64_t normalization, FourierDims& result);

/// The transform along all dimensions. `kind` is that of the last dimension. T is the type of the parts of complex
/// numbers. Returns false if there is too little memory.
template <typename T>
bool transform_dims(KernelRuntimeContext& ctx, FourierKind kind, const FourierDims& dims, const Tensor& in,
                    Tensor& out);

}  // namespace rules_executorch::kernels
