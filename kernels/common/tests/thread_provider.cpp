#include "kernels/common/tests/thread_provider.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "kernels/common/parallel_for.h"

namespace rules_executorch::kernels::testing {
namespace {

std::atomic<int64_t> threads_in_use = 1;
std::atomic<int64_t> part_count = 0;

}  // namespace

void set_thread_count(int64_t count) { threads_in_use = count; }

int64_t take_part_count() { return part_count.exchange(0); }

}  // namespace rules_executorch::kernels::testing

namespace rules_executorch {

int64_t thread_count() { return kernels::testing::threads_in_use; }

// Each part has a thread of its own, so that the thread sanitizer sees what parts share.
void run_on_threads(int64_t begin, int64_t end, int64_t grain, RangeFunction function) {
  using kernels::testing::part_count;
  const int64_t part_size = std::max(grain, (end - begin + thread_count() - 1) / thread_count());
  std::vector<std::thread> threads;
  for (int64_t first = begin; first < end; first += part_size) {
    threads.emplace_back([=] { function(first, std::min(end, first + part_size)); });
  }
  if (static_cast<int64_t>(threads.size()) > part_count) {
    part_count = static_cast<int64_t>(threads.size());
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace rules_executorch
