#pragma once

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Whether the memory of `tensor` has the dim order `dim_order`; true if `dim_order` is missing. The position of
/// dimensions of size 1 in a dim order is ignored.
bool has_dim_order(const Tensor& tensor, const std::optional<ArrayRef<int64_t>>& dim_order);

}  // namespace rules_executorch::kernels
