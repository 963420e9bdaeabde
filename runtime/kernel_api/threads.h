#pragma once

#include <executorch/runtime/core/function_ref.h>

#include <cstdint>

namespace rules_executorch {

/// A function of a thread's number, and of the first item and the end (exclusive) of a part of a range.
using ThreadFunction = ::executorch::runtime::FunctionRef<void(int64_t, int64_t, int64_t)>;

/// The threads of a binary, for its kernels. The functions of the same names below say what each member does.
struct ThreadPool {
  int64_t (*thread_count)();
  void (*run_on_threads)(int64_t begin, int64_t end, int64_t parts, ThreadFunction function);
  bool (*use_threads)(uint32_t count);
};

/// Gives kernels a pool, which must stay in place. In a binary that links `//runtime:threads`, kernels have
/// ExecuTorch's pool from the start; in others they have none, and one thread. Call the function while no program runs.
void set_thread_pool(const ThreadPool* pool);

/// Whether kernels have a pool.
bool has_thread_pool();

/// The number of threads that `run_on_threads` uses. 1 if there is no pool, or if this thread may not use it.
int64_t thread_count();

/// Calls `function(thread, first, last)` for `parts` parts of the range `begin` to `end` (exclusive), whose numbers of
/// items differ by at most one. Each thread takes the next part when it has finished one. `thread` is at least 0, and
/// less than the number of threads and the number of parts. Parts with the same `thread` run one after another. Only
/// for a binary with a pool.
void run_on_threads(int64_t begin, int64_t end, int64_t parts, ThreadFunction function);

/// The first item of a part, for implementations of run_on_threads(). For `part == parts`, the end of the range.
inline int64_t part_begin(int64_t begin, int64_t end, int64_t parts, int64_t part) {
  const int64_t items = end - begin;
  return begin + items / parts * part + items % parts * part / parts;
}

/// Sets the number of threads of the pool, for kernels and XNNPACK. With 1, calls from this thread run on this thread
/// only, and there is no pool. With `kAllProcessors`, the pool has a thread for each fast processor of the machine that
/// this process may use. Returns whether the change was possible.
bool use_threads(uint32_t count);

constexpr uint32_t kAllProcessors = 0;

}  // namespace rules_executorch
