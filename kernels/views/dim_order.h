#pragma once

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Whether tensor's memory has the dim order that is asked for: `dim_order`, or any if there is none. Dim orders that
/// differ in dimensions of size 1 only are the same memory.
bool has_dim_order(const Tensor& tensor, const std::optional<ArrayRef<int64_t>>& dim_order);

}  // namespace rules_executorch::kernels
