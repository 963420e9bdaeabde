#pragma once

#include "kernels/tensors/scalar.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Whether a tensor of `numel` elements of dtype `type` can be filled with `value`. As PyTorch, refuses values out of
/// the dtype's range. Exceptions of PyTorch: a tensor with one element of Half or BFloat16 accepts all values and
/// becomes infinite, and for other numbers of elements, ComplexHalf has the range of Float.
inline bool can_fill(ScalarType type, int64_t numel, const Scalar& value) {
  if (numel == 1 && (type == ScalarType::Half || type == ScalarType::BFloat16)) {
    return true;
  }
  return scalar_fits(value, numel != 1 && type == ScalarType::ComplexHalf ? ScalarType::Float : type);
}

/// Converts `value` to the dtype of `view` and sets all elements to it.
void fill(const StridedView& view, const Scalar& value);

}  // namespace rules_executorch::kernels
