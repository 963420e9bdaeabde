#include "runtime/kernel_api/threads.h"

namespace rules_executorch {
namespace {

// Null before any constructor runs, so that `//runtime:threads` may set it in one.
const ThreadPool* thread_pool = nullptr;

}  // namespace

void set_thread_pool(const ThreadPool* pool) { thread_pool = pool; }

bool has_thread_pool() { return thread_pool != nullptr; }

int64_t thread_count() { return has_thread_pool() ? thread_pool->thread_count() : 1; }

void run_on_threads(int64_t begin, int64_t end, int64_t parts, ThreadFunction function) {
  thread_pool->run_on_threads(begin, end, parts, function);
}

bool use_threads(uint32_t count) { return has_thread_pool() ? thread_pool->use_threads(count) : count == 1; }

}  // namespace rules_executorch
