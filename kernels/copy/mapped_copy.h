#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>

#include "kernels/views/strided_view.h"

namespace rules_executorch::kernels {

/// The index in dimension `d` of the source for index `i` of the target.
using IndexMap = ::executorch::runtime::FunctionRef<int64_t(int64_t d, int64_t i)>;

/// Copies elements with a separate map for each dimension: `target[i, j] = source[map(0, i), map(1, j)]`. Both views
/// have the same dtype and the same rank. Threads copy disjoint parts of the target (see `parallel_for`), and call
/// `map` at the same time.
void copy_mapped(const ConstStridedView& source, const StridedView& target, IndexMap map);

}  // namespace rules_executorch::kernels
