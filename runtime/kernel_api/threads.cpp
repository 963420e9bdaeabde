// Whoever depends on ExecuTorch's pool of threads has this definition, without which the interface's header has
// sequential loops in place of the functions that the pool provides.
#ifdef ET_USE_THREADPOOL

#include "runtime/kernel_api/threads.h"

#include <executorch/extension/threadpool/threadpool_guard.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <sched.h>

#include <algorithm>
#include <limits>

namespace executorch::extension::threadpool {

// As the official wheel's library defines the pool. The wheel has no header of it.
class ThreadPool {
 public:
  bool _unsafe_reset_threadpool(uint32_t threads);
};

ThreadPool* get_threadpool();

}  // namespace executorch::extension::threadpool

namespace rules_executorch {

namespace extension = ::executorch::extension;
using extension::threadpool::NoThreadPoolGuard;

namespace {

// How many processors this process may run on. The pool does not ask, and starts a thread for each of the machine's.
uint32_t usable_processors() {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof(processors), &processors) != 0) {
    return std::numeric_limits<uint32_t>::max();  // There are more than such a set holds.
  }
  return static_cast<uint32_t>(std::max(CPU_COUNT(&processors), 1));
}

}  // namespace

// Where the pool is not used, without a look at the pool: the first look starts a thread for each processor.
int64_t thread_count() { return NoThreadPoolGuard::is_enabled() ? 1 : extension::get_thread_count(); }

void run_on_threads(int64_t begin, int64_t end, int64_t grain, RangeFunction function) {
  ET_CHECK_MSG(extension::parallel_for(begin, end, grain, function), "ExecuTorch's threads failed");
}

bool use_threads(uint32_t count) {
  const uint32_t most = count == kAllProcessors ? usable_processors() : count;
  NoThreadPoolGuard::set_enabled(most == 1);
  if (most == 1 || (count == kAllProcessors && extension::get_thread_count() <= most)) {
    return true;
  }
  return extension::threadpool::get_threadpool()->_unsafe_reset_threadpool(most);
}

}  // namespace rules_executorch

#endif
