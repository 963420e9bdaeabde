#pragma once

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Pads the last `rank` dimensions of `in`. `padding` has a pair for each dimension, the last dimension first. The
/// padding repeats the border elements (kReplication), or mirrors the elements next to the border (kReflection).
enum class PaddingMode { kReplication, kReflection };

Tensor& pad_out(KernelRuntimeContext& ctx, const Tensor& in, const ArrayRef<int64_t>& padding, int64_t rank,
                PaddingMode mode, Tensor& out);

}  // namespace rules_executorch::kernels
