#include "kernels/common/tests/thread_provider.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#define ET_USE_THREADPOOL
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace rules_executorch::kernels::testing {
namespace {

std::atomic<int64_t> thread_count = 1;
std::atomic<int64_t> part_count = 0;

}  // namespace

void set_thread_count(int64_t count) { thread_count = count; }

int64_t take_part_count() { return part_count.exchange(0); }

}  // namespace rules_executorch::kernels::testing

namespace executorch::extension {

// Each part has a thread of its own, so that the thread sanitizer sees what parts share.
bool parallel_for(const int64_t begin, const int64_t end, const int64_t grain_size,
                  runtime::FunctionRef<void(int64_t, int64_t)> f) {
  using rules_executorch::kernels::testing::part_count;
  using rules_executorch::kernels::testing::thread_count;
  const int64_t part_size = std::max(grain_size, (end - begin + thread_count - 1) / thread_count);
  std::vector<std::thread> threads;
  for (int64_t first = begin; first < end; first += part_size) {
    threads.emplace_back([=] { f(first, std::min(end, first + part_size)); });
  }
  if (static_cast<int64_t>(threads.size()) > part_count) {
    part_count = static_cast<int64_t>(threads.size());
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return true;
}

}  // namespace executorch::extension
