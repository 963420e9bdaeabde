#pragma once

#include <cstdint>

#include "kernels/parallel/grain.h"
#include "runtime/kernel_api/threads.h"

namespace rules_executorch::kernels {

using rules_executorch::thread_count;
using rules_executorch::ThreadFunction;

/// A function of the first item and the end (exclusive) of a part of a range.
using RangeFunction = ::executorch::runtime::FunctionRef<void(int64_t, int64_t)>;

/// Calls `function(first, last)` for parts of the range `begin` to `end` (exclusive), possibly on several threads at a
/// time. The parts cover the range once. There are as many as part_count() says for parts of `grain` items, of which
/// one may be smaller; a grain of 0 is the same as 1. The result of an item must not depend on the part that contains
/// the item, so that results are the same for all numbers of threads.
///
/// A binary that links `//runtime:threads` has ExecuTorch's thread pool. In other binaries, and for ranges of at most
/// `grain` items, `function` is called once for the whole range.
void parallel_for(int64_t begin, int64_t end, int64_t grain, RangeFunction function);

/// The same as parallel_for(), with `function(thread, first, last)`. `thread` is less than `thread_count()` and than
/// the number of parts. Parts with the same `thread` run one after another, so that they can use the same scratch
/// memory.
void parallel_for_with_thread(int64_t begin, int64_t end, int64_t grain, ThreadFunction function);

/// The number of parts of a range that can have `most` parts: the same number per thread, at most four. A thread that
/// starts late or is slower than others takes fewer parts, so that the others need not wait for the thread. 1 if there
/// is one thread.
int64_t part_count(int64_t most);

}  // namespace rules_executorch::kernels
