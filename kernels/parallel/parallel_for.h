#pragma once

#include <cstdint>

#include "kernels/parallel/grain.h"
#include "runtime/kernel_api/threads.h"

namespace rules_executorch::kernels {

using rules_executorch::RangeFunction;

/// Calls `function(first, last)` for parts of `begin` to `end` that cover that range once, of `grain` items or more
/// each (the last part may be smaller), possibly on several threads at a time. What is computed for an item does not
/// depend on the part that it is in: results are the same for every count of threads.
///
/// A binary that links `//runtime:threads` has ExecuTorch's threads. Every other one is sequential, and so is a range
/// of no more than `grain` items: `function` is called once, for all of them.
void parallel_for(int64_t begin, int64_t end, int64_t grain, RangeFunction function);

/// How many threads share a range at most.
int64_t thread_count();

}  // namespace rules_executorch::kernels
