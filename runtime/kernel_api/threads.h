#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>

namespace rules_executorch {

/// What is called for parts of a range.
using RangeFunction = ::executorch::runtime::FunctionRef<void(int64_t, int64_t)>;

// A binary that links `//runtime:threads` has these, on ExecuTorch's pool of threads. Any other one has none of them:
// the references are weak.

/// How many threads `run_on_threads` uses: 1 where this thread may not use the pool.
[[gnu::weak]] int64_t thread_count();

/// Calls `function(first, last)` for parts of `begin` to `end` that cover that range once, of `grain` items or more
/// each.
[[gnu::weak]] void run_on_threads(int64_t begin, int64_t end, int64_t grain, RangeFunction function);

/// Gives the pool so many threads, for kernels and for XNNPACK. With 1, what this thread calls runs on this thread
/// alone, and there is no pool. With `kAllProcessors`, there is a thread for each fast processor of the machine, but
/// none for those that this process may not run on. Whether that was possible.
[[gnu::weak]] bool use_threads(uint32_t count);

constexpr uint32_t kAllProcessors = 0;

}  // namespace rules_executorch
