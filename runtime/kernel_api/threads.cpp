// Dependents of ExecuTorch's thread pool define this macro. Without it, the header of the interface has sequential
// loops instead of the functions of the pool.
#ifdef ET_USE_THREADPOOL

#include "runtime/kernel_api/threads.h"

#include <executorch/extension/threadpool/threadpool_guard.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <sched.h>

#include <algorithm>
#include <limits>

// pthreadpool, in the library of ExecuTorch's pool.
extern "C" {
struct pthreadpool;
void pthreadpool_parallelize_1d_with_thread(pthreadpool* threads, void (*function)(void*, size_t, size_t),
                                            void* argument, size_t range, uint32_t flags);
}

namespace executorch::extension::threadpool {

// The class as defined in the library of the official wheel. The wheel does not have its header.
class ThreadPool {
 public:
  bool _unsafe_reset_threadpool(uint32_t threads);
};

ThreadPool* get_threadpool();
pthreadpool* get_pthreadpool();

}  // namespace executorch::extension::threadpool

namespace rules_executorch {

namespace extension = ::executorch::extension;
using extension::threadpool::NoThreadPoolGuard;

namespace {

// The number of processors that this process may use. The pool ignores this limit and starts a thread for each
// processor of the machine.
uint32_t usable_processors() {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof(processors), &processors) != 0) {
    return std::numeric_limits<uint32_t>::max();  // more processors than fit into the set
  }
  return static_cast<uint32_t>(std::max(CPU_COUNT(&processors), 1));
}

// The members of ThreadPool.
struct ExecutorchPool {
  // If the pool is disabled, does not access the pool, because the first access starts a thread for each processor.
  static int64_t thread_count() { return NoThreadPoolGuard::is_enabled() ? 1 : extension::get_thread_count(); }

  // ExecuTorch's parallel_for() has one part for each thread.
  static void run_on_threads(int64_t begin, int64_t end, int64_t parts, ThreadFunction function) {
    struct Call {
      int64_t begin;
      int64_t end;
      int64_t parts;
      ThreadFunction function;
      bool has_few_parts;  // any of the threads may take one
    } call{begin, end, parts, function, parts <= extension::get_thread_count()};
    pthreadpool_parallelize_1d_with_thread(
        extension::threadpool::get_pthreadpool(),
        [](void* argument, size_t thread, size_t index) {
          // Calls from this part run on this thread.
          const NoThreadPoolGuard guard;
          const Call& call = *static_cast<const Call*>(argument);
          const auto part = static_cast<int64_t>(index);
          call.function(call.has_few_parts ? part : static_cast<int64_t>(thread),
                        part_begin(call.begin, call.end, call.parts, part),
                        part_begin(call.begin, call.end, call.parts, part + 1));
        },
        &call, static_cast<size_t>(parts), /*flags=*/0);
  }

  static bool use_threads(uint32_t count) {
    const uint32_t most = count == kAllProcessors ? usable_processors() : count;
    NoThreadPoolGuard::set_enabled(most == 1);
    if (most == 1 || (count == kAllProcessors && extension::get_thread_count() <= most)) {
      return true;
    }
    return extension::threadpool::get_threadpool()->_unsafe_reset_threadpool(most);
  }
};

constexpr ThreadPool kExecutorchPool = {ExecutorchPool::thread_count, ExecutorchPool::run_on_threads,
                                        ExecutorchPool::use_threads};

[[maybe_unused]] const bool is_set = (set_thread_pool(&kExecutorchPool), true);

}  // namespace
}  // namespace rules_executorch

#endif
