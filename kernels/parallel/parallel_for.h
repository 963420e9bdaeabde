#pragma once

#include <cstdint>

#include "kernels/parallel/grain.h"
#include "runtime/kernel_api/threads.h"

namespace rules_executorch::kernels {

using rules_executorch::RangeFunction;

/// Calls `function(first, last)` for parts of the range `begin` to `end` (exclusive), possibly on several threads at a
/// time. The parts cover the range once. They have about the same number of items, and there are as few as if all but
/// one had at least `grain` items, and at most most_parts(); a grain of 0 is the same as 1. The result of an item must
/// not depend on the part that contains the item, so that results are the same for all numbers of threads.
///
/// A binary that links `//runtime:threads` has ExecuTorch's thread pool. In other binaries, and for ranges of at most
/// `grain` items, `function` is called once for the whole range.
void parallel_for(int64_t begin, int64_t end, int64_t grain, RangeFunction function);

/// The largest number of threads that share a range.
int64_t thread_count();

/// The largest number of parts of a range: several for each thread. A thread that starts late or is slower than others
/// takes fewer parts, so that the others need not wait for it. 1 if there is one thread.
int64_t most_parts();

}  // namespace rules_executorch::kernels
