#pragma once

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// `out = view`, where `view` is a view of the input, for operators that return views in PyTorch and copies in
/// ExecuTorch. Checks the dtypes, resizes `out` and copies.
Tensor& view_copy(KernelRuntimeContext& ctx, const ConstStridedView& view, Tensor& out);

}  // namespace rules_executorch::kernels
