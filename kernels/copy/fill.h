#pragma once

#include "kernels/tensors/scalar.h"
#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// Whether a tensor of `numel` elements of dtype `type` can be filled with `value`: PyTorch refuses values outside the
/// dtype's range, but fills a single Half or BFloat16 with infinity, and any other number of ComplexHalf with a Float.
inline bool can_fill(ScalarType type, int64_t numel, const Scalar& value) {
  if (numel == 1 && (type == ScalarType::Half || type == ScalarType::BFloat16)) {
    return true;
  }
  return scalar_fits(value, numel != 1 && type == ScalarType::ComplexHalf ? ScalarType::Float : type);
}

/// Sets all elements of `view` to `value`, converted to its dtype.
void fill(const StridedView& view, const Scalar& value);

}  // namespace rules_executorch::kernels
