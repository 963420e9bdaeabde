#pragma once

#include "kernels/tensors/dtype.h"

namespace rules_executorch::kernels {

/// Pads the last `rank` dimensions of `in`, with pairs of `padding` for the last one first, by elements of `in` itself:
/// those at its border again, or those behind its border in reverse.
enum class PaddingMode { kReplication, kReflection };

Tensor& pad_out(KernelRuntimeContext& ctx, const Tensor& in, const ArrayRef<int64_t>& padding, int64_t rank,
                PaddingMode mode, Tensor& out);

}  // namespace rules_executorch::kernels
