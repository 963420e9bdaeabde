#pragma once

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// `out = view`, a view of the input: what operators do that PyTorch has as views and ExecuTorch as copies. Checks the
/// dtypes, resizes `out` and copies.
Tensor& view_copy(KernelRuntimeContext& ctx, const ConstStridedView& view, Tensor& out);

}  // namespace rules_executorch::kernels
